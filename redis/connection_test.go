package redis

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// serves checks that a source reads the rule docs, and hears of a change of it by some means.
func serves(t *testing.T, server *realServer, source *Source, means string) {
	t.Helper()
	server.do(t, "hset", "links", "docs", "/guide")
	e := startEdge(t, source)
	if e.rules["docs"] != "/guide" {
		t.Fatalf("the rules are %v", e.rules)
	}
	if by := e.waitForLog(t, "watching redis").ContextMap()["by"]; by != means {
		t.Errorf("changes are noticed by %v, not by %s", by, means)
	}
	server.do(t, "hset", "links", "docs", "/guide/2")
	e.untilServed(t, "docs", "/guide/2", time.Second)
}

func TestAServerIsReachedByTCPWithUserAndPassword(t *testing.T) {
	port := freePort(t)
	server := startServer(t, "--port", port)
	server.addUser(t, "edge", "+client|tracking")
	t.Setenv("LINKS_PASSWORD", "secret")
	serves(t, server, &Source{URL: "redis://edge:{env.LINKS_PASSWORD}@127.0.0.1:" + port},
		"client tracking")
}

func TestAnotherDatabaseIsRead(t *testing.T) {
	server := startServer(t, "--notify-keyspace-events", "KA")
	server.do(t, "hset", "links", "docs", "/wrong")
	for name, protocol := range map[string]string{"client tracking": "3", "keyspace events": "2"} {
		t.Run(name, func(t *testing.T) {
			server.addUser(t, "edge", "+client|tracking", "+subscribe", "+unsubscribe", "+config|get",
				"&__keyspace@3__:links", "+select")
			serves(t, server.inDatabase(t, 3),
				&Source{URL: server.url("edge") + "?db=3&protocol=" + protocol}, name)
		})
	}
}

func TestAServerWithoutPushIsPolled(t *testing.T) {
	server := startServer(t)
	serves(t, server, &Source{URL: server.url("") + "?protocol=2"}, "polling")
}

func TestAServerWithSomeKeyspaceEventsIsPolled(t *testing.T) {
	server := startServer(t, "--notify-keyspace-events", "Kh")
	serves(t, server, &Source{URL: server.url("") + "?protocol=2"}, "polling")
}

func TestAServerIsReachedByTLSOfAnOwnAuthority(t *testing.T) {
	certificates := newCertificates(t)
	port := freePort(t)
	server := startServer(t, "--tls-port", port, "--tls-ca-cert-file", certificates.ca,
		"--tls-cert-file", certificates.cert, "--tls-key-file", certificates.key)
	url := "rediss://127.0.0.1:" + port
	serves(t, server,
		&Source{URL: url, TLSCA: certificates.ca, TLSCert: certificates.cert, TLSKey: certificates.key},
		"client tracking")

	untrusting := newEdge(t, &Source{URL: url}, t.TempDir())
	if untrusting.read(t.Context()); untrusting.err == nil ||
		!strings.Contains(untrusting.err.Error(), "certificate") {
		t.Errorf("without tls_ca the error is %v", untrusting.err)
	}
	anonymous := newEdge(t, &Source{URL: url, TLSCA: certificates.ca}, t.TempDir())
	if anonymous.read(t.Context()); anonymous.err == nil {
		t.Error("without a certificate of its own it is let in")
	}
}

func TestAClusterIsReachedThroughItsNodes(t *testing.T) {
	port := freePort(t)
	server := startServer(t, "--port", port, "--cluster-enabled", "yes", "--cluster-port", freePort(t))
	server.do(t, "cluster", "addslotsrange", 0, 16383)
	for {
		info, _ := server.client.ClusterInfo(t.Context()).Result()
		if strings.Contains(info, "cluster_state:ok") {
			break
		}
	}
	server.addUser(t, "edge", "+client|tracking", "+cluster|slots", "+command", "+asking")
	serves(t, server, &Source{URL: "redis://edge:secret@127.0.0.1:" + port, Cluster: true},
		"client tracking")
}

func TestAServerIsFoundThroughSentinel(t *testing.T) {
	port := freePort(t)
	server := startServer(t, "--port", port)
	sentinel := startSentinel(t, port)
	serves(t, server, &Source{URL: sentinel.url}, "client tracking")
}

func TestTheMasterThatSentinelSwitchesToIsListenedTo(t *testing.T) {
	port, replicaPort := freePort(t), freePort(t)
	server := startServer(t, "--port", port)
	server.do(t, "hset", "links", "docs", "/guide")
	replica := startServer(t, "--port", replicaPort, "--replicaof", "127.0.0.1 "+port)
	sentinel := startSentinel(t, port)
	e := startEdge(t, &Source{URL: sentinel.url})
	sentinel.untilOK(t, "failover", "links") // once it knows the replica
	for replica.client.HSet(t.Context(), "links", "docs", "/guide/2").Err() != nil {
	}
	t.Log(e.untilServed(t, "docs", "/guide/2", 5*time.Second))
	replica.do(t, "hset", "links", "docs", "/guide/3")
	t.Log(e.untilServed(t, "docs", "/guide/3", time.Second))
}

// sentinel is a Redis Sentinel, and the URL of a source that asks it.
type sentinel struct {
	client *goredis.SentinelClient
	url    string
}

// startSentinel starts a Redis Sentinel that monitors the server on a port under the name links.
func startSentinel(t *testing.T, port string) *sentinel {
	t.Helper()
	own := freePort(t)
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	monitor := fmt.Appendf(nil, "port %s\nsentinel monitor links 127.0.0.1 %s 1\n", own, port)
	if err := os.WriteFile(config, monitor, 0o600); err != nil {
		t.Fatal(err)
	}
	process := run(t, config, "--sentinel")
	client := goredis.NewSentinelClient(&goredis.Options{Addr: "127.0.0.1:" + own})
	t.Cleanup(func() { client.Close(); process.Process.Kill(); process.Wait() })
	return &sentinel{client, "redis://127.0.0.1:" + own + "?master_name=links"}
}

// untilOK repeats a command until it succeeds.
func (s *sentinel) untilOK(t *testing.T, command, master string) {
	t.Helper()
	timeout := time.Now().Add(20 * time.Second)
	for {
		cmd := goredis.NewStatusCmd(t.Context(), "sentinel", command, master)
		err := s.client.Process(t.Context(), cmd)
		if err == nil {
			return
		}
		if time.Now().After(timeout) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // Sentinel looks at servers at times of its own
	}
}

// certificates are PEM files: of an authority, and of a certificate for 127.0.0.1 with its key.
type certificates struct{ ca, cert, key string }

func newCertificates(t *testing.T) certificates {
	t.Helper()
	dir := t.TempDir()
	authority := &x509.Certificate{SerialNumber: big.NewInt(1),
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour)}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotAfter:    time.Now().Add(time.Hour)}
	authorityKey, leafKey := newKey(t), newKey(t)
	keyBytes, err := x509.MarshalECPrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return certificates{
		ca: writePEM(t, dir, "CERTIFICATE", "ca.pem",
			sign(t, authority, authority, &authorityKey.PublicKey, authorityKey)),
		cert: writePEM(t, dir, "CERTIFICATE", "cert.pem",
			sign(t, leaf, authority, &leafKey.PublicKey, authorityKey)),
		key: writePEM(t, dir, "EC PRIVATE KEY", "key.pem", keyBytes),
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, certificate, by *x509.Certificate, key *ecdsa.PublicKey,
	with *ecdsa.PrivateKey) []byte {
	t.Helper()
	signed, err := x509.CreateCertificate(rand.Reader, certificate, by, key, with)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func writePEM(t *testing.T, dir, kind, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
