package source_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/source"
)

// trusting is a URL source that trusts the certificates of the test.
type trusting struct{ source.URL }

// isPrivate replaces which addresses are private; nil for what is so.
var isPrivate atomic.Pointer[func(netip.AddrPort) bool]

func init() { caddy.RegisterModule(new(trusting)) }

func (*trusting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.shortlink.sources.test_url", New: func() caddy.Module {
		return new(trusting)
	}}
}

func (s *trusting) Provision(ctx caddy.Context) error {
	err := s.URL.Provision(ctx)
	roots := x509.NewCertPool()
	certificates.Range(func(certificate, _ any) bool {
		roots.AddCert(certificate.(*x509.Certificate))
		return true
	})
	var private func(netip.AddrPort) bool
	if replaced := isPrivate.Load(); replaced != nil {
		private = *replaced
	}
	s.URL.ReachBy(&tls.Config{RootCAs: roots}, nil, private)
	return err
}

// certificates are those that the sources of this test trust, as keys.
var certificates sync.Map

// origin is a server of rules.
type origin struct {
	*httptest.Server
	mu    sync.Mutex
	texts map[string]string // by path
	fault http.HandlerFunc  // answers instead, if it is not nil
	asked []*http.Request
	full  int // how many texts it has sent
}

// startOrigin starts a server of rules.
func startOrigin(t *testing.T, pathsAndTexts ...string) *origin {
	t.Helper()
	o := &origin{texts: map[string]string{}}
	o.put(pathsAndTexts...)
	o.Server = httptest.NewUnstartedServer(o)
	o.Server.Config.ErrorLog = quiet
	o.EnableHTTP2 = true
	o.StartTLS()
	certificates.Store(o.Certificate(), nil)
	t.Cleanup(o.Close)
	return o
}

// put replaces texts, all at once.
func (o *origin) put(pathsAndTexts ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.texts = maps.Clone(o.texts)
	for i := 0; i < len(pathsAndTexts); i += 2 {
		o.texts[pathsAndTexts[i]] = pathsAndTexts[i+1]
	}
}

// fail lets a handler answer; nil for the server itself.
func (o *origin) fail(with http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault = with
}

// ServeHTTP answers with a text, whose ETag tells what it is.
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked = append(o.asked, r.Clone(r.Context()))
	fault := o.fault
	text, found := o.texts[r.URL.Path]
	o.mu.Unlock()
	switch {
	case fault != nil:
		fault(w, r)
		return
	case !found:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, text))
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	o.mu.Lock()
	o.full++
	o.mu.Unlock()
	fmt.Fprint(w, text)
}

// requests returns the requests until now.
func (o *origin) requests() []*http.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// timesSent returns how many texts have been sent.
func (o *origin) timesSent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full
}

// awaitRequests waits for some more requests.
func (o *origin) awaitRequests(t *testing.T, more int) {
	t.Helper()
	want := len(o.requests()) + more
	for deadline := time.Now().Add(time.Minute); len(o.requests()) < want; {
		if time.Now().After(deadline) {
			t.Fatalf("there are %d requests, want %d", len(o.requests()), want)
		}
		time.Sleep(5 * time.Millisecond) // waits for the poll of another process
	}
}

// followURL starts a Caddy that polls a URL.
func followURL(t *testing.T, address, options string) *testcaddy.Follower {
	t.Helper()
	s := &testcaddy.Follower{Log: t.TempDir() + "/caddy.log"}
	s.Server = testcaddy.ServeWith(t, testcaddy.LogTo(s.Log), urlBlock(address, options))
	return s
}

// urlBlock returns the content of a site's block.
func urlBlock(address, options string) string {
	return "shortlink {\n from test_url " + address + " {\n poll 5ms\n " + options +
		"\n }\n name links\n }\n respond next 299"
}

// underLoad sends requests while a test goes on, which have to be answered alike.
func underLoad(t *testing.T, s *testcaddy.Server, target, want string) (end func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		defer client.CloseIdleConnections()
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			response, err := client.Get("http://" + s.Addr + target)
			if err != nil {
				t.Errorf("a request fails: %v", err)
				return
			}
			response.Body.Close()
			if got := response.Header.Get("Location"); got != want {
				t.Errorf("a request is answered with %s %s", response.Status, got)
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// rulesOf returns rules of one key.
func rulesOf(key, destination string) string { return fmt.Sprintf(`{%q: %q}`, key, destination) }

// signedAt returns the signature of a text with a time.
func signedAt(text string, key minisign.PrivateKey, unix int64) string {
	r := minisign.NewReader(strings.NewReader(text))
	_, _ = r.Read(make([]byte, len(text)))
	return string(r.SignWithComments(key, fmt.Sprintf("timestamp:%d\tfile:links.json", unix), "a comment"))
}

// hostOf returns host and port of a URL.
func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	testcaddy.Must(t, err)
	return u.Host
}

// listen listens on a port of this machine.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testcaddy.Must(t, err)
	return listener
}
