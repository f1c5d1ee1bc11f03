package source_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// startWith starts a server of new rules with a certificate of its own.
func startWith(t *testing.T, begins, ends time.Time, host string) *httptest.Server {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	testcaddy.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: begins, NotAfter: ends, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	testcaddy.Must(t, err)
	parsed, err := x509.ParseCertificate(encoded)
	testcaddy.Must(t, err)
	server := httptest.NewUnstartedServer(answer(200, newRules))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{
		Certificate: [][]byte{encoded}, PrivateKey: private,
	}}}
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	certificates.Store(parsed, nil)
	return server
}

// Placeholders are replaced at each request, so the server changes while Caddy runs.
func TestWhatServesGoesOnWhileTheServerCannotBeTrustedOrFound(t *testing.T) {
	now := time.Now()
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	foreign := startWith(t, now.Add(-time.Hour), now.Add(time.Hour), "other.example")
	for name, tt := range map[string]struct{ address, told string }{
		"expired": {startWith(t, now.Add(-2*time.Hour), now.Add(-time.Hour), "127.0.0.1").URL,
			", which is not now by the clock here; renew it, or set the clock"},
		"of a time to come, or a clock that is slow": {
			startWith(t, now.Add(time.Hour), now.Add(2*time.Hour), "127.0.0.1").URL,
			", which is not now by the clock here; renew it, or set the clock"},
		"of another host": {foreign.URL, "cannot validate certificate for 127.0.0.1 " +
			"because it doesn't contain any IP SANs; write a host that it names"},
		"closed": {closed.URL, "it refuses the connection; check the port"},
		"no such host": {"https://links.invalid",
			"links.invalid: there is no host of this name; check the name"},
		"a placeholder of nothing": {"", "is no URL that begins with https:// and a host"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no such host" {
				_, err := net.LookupHost("links.invalid")
				if err == nil || !strings.Contains(err.Error(), "no such host") {
					tt.told = "" // this machine has no DNS that says so; it is rejected all the same
				}
			}
			o := startOrigin(t, "/links.json", oldRules)
			t.Setenv("LINKS_SERVER", o.URL)
			s := followURL(t, "{env.LINKS_SERVER}/links.json", "timeout 1m")
			end := underLoad(t, s.Server, "/a", "https://old.example/")
			defer end()
			t.Setenv("LINKS_SERVER", tt.address)
			entry := s.Logged(t, 1, testcaddy.Rejected)
			if told := fmt.Sprint(entry["error"]); !strings.Contains(told, tt.told) ||
				!strings.Contains(told, "{env.LINKS_SERVER}/links.json") {
				t.Errorf("the log says %s", told)
			}
		})
	}
}

func TestACertificateOfNobodyKnownIsAnError(t *testing.T) {
	server := startWith(t, time.Now(), time.Now().Add(time.Hour), "127.0.0.1")
	parsed, err := x509.ParseCertificate(server.TLS.Certificates[0].Certificate[0])
	testcaddy.Must(t, err)
	certificates.Range(func(known, _ any) bool {
		if known.(*x509.Certificate).Equal(parsed) {
			certificates.Delete(known)
		}
		return true
	})
	s := &testcaddy.Server{Addr: testcaddy.FreeAddress(t)}
	err = s.TryToLoad(t, urlBlock(server.URL+"/links.json", ""))
	if err == nil || !strings.Contains(err.Error(), "the authority of its certificate is unknown "+
		"here; let the server send all of the chain") {
		t.Errorf("the error is %v", err)
	}
}
