//go:build linux

package fleet

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
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority returns an authority that signs itself.
func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t), certificate: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the lab's authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	a.certificate = a.sign(t, a.certificate, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a certificate as the authority signs it.
func (a *authority) sign(t *testing.T, template *x509.Certificate,
	of *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &of.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// pem returns the authority's own certificate.
func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// issue writes a certificate for a host, and its key, to files in a folder.
func (a *authority) issue(t *testing.T, address, dir, name string) (certFile, keyFile string) {
	t.Helper()
	key := newKey(t)
	certificate := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: address},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	writeFile(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: certificate.Raw}))
	writeFile(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return certFile, keyFile
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// encrypted is one Redis that servers reach by TLS.
type encrypted struct {
	*fleet
	redis *node
	trust string // the file of authorities that servers trust
	tls   *authority
}

const tlsPort = 6380

// startEncrypted starts everything, with requests and writes.
func startEncrypted(t *testing.T) *encrypted {
	l := newLab(t)
	e := &encrypted{tls: newAuthority(t), trust: filepath.Join(l.dir, "trusted.pem")}
	writeFile(t, e.trust, e.tls.pem())
	h := l.newHost(t, back)
	certFile, keyFile := e.tls.issue(t, back.address(h.number), h.dir, "first")
	e.redis = newNode(t, h, redisPort, fmt.Sprint("tls-port ", tlsPort), "tls-cert-file "+certFile,
		"tls-key-file "+keyFile, "tls-ca-cert-file "+e.trust, "tls-auth-clients no", `save ""`)
	e.redis.start(t)
	e.redis.addUser(t, "first")
	fill(t, e.redis.client)
	url := fmt.Sprintf("rediss://edge:first@%s:%d", back.address(h.number), tlsPort)
	e.fleet = l.newFleet(t, [3]string{}, func() []site {
		return sites(url, "\t\t\ttls_ca "+e.trust+"\n")
	})
	e.write, e.stored = set(e.redis.client, 0), stored(e.redis.client)
	e.isEdited = true
	e.run(t)
	return e
}

// renew gives Redis a new certificate, and ends the servers' connections.
func (e *encrypted) renew(t *testing.T, name string) {
	t.Helper()
	h := e.redis.host
	certFile, keyFile := e.tls.issue(t, back.address(h.number), h.dir, name)
	e.redis.do(t, "config", "set", "tls-cert-file", certFile, "tls-key-file", keyFile)
	e.redis.dropUsers(t)
}

func TestServersStayRightWhileCertificatesChange(t *testing.T) {
	e := startEncrypted(t)
	e.sufferAll(t, []fault{
		{
			name: "Redis' certificate is renewed", expected: "nothing",
			happen: func(t *testing.T) {
				e.renew(t, "second")
				pause(t.Context(), 2*time.Second)
			},
		},
		{
			name:     "the authority changes before the servers know it",
			expected: "the last rules serve until the file has its certificate, and caddy reload --force",
			happen: func(t *testing.T) {
				before := e.tls.pem()
				e.tls = newAuthority(t)
				e.renew(t, "third")
				pause(t.Context(), 4*time.Second)
				writeFile(t, e.trust, append(before, e.tls.pem()...))
				for _, s := range e.servers {
					if err := s.reload(); err != nil {
						t.Error(err)
					}
				}
			},
		},
	})
}
