package shortlink_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink"
	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

const benchmarkRules = `{"rules": {
	"github": "https://github.com",
	"search": "https://example.com/search?lang=en&page=1",
	"source": "/caddy",
	"caddy": "/github/caddyserver/caddy",
	"docs": "/documentation"
}}`

// prepare returns a request as Caddy's server gives it to its handlers, and the server's response.
func prepare(target string, w http.ResponseWriter) *http.Request {
	r := httptest.NewRequest("GET", "http://go.example"+target, nil)
	r.RequestURI = target
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, nil)
}

var nothing = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })

func TestTheSchemeOfAConnectionWithTLSIsHTTPS(t *testing.T) {
	h, err := testcaddy.Provision(t, benchmarkRules)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := prepare("/docs", w)
	r.TLS = new(tls.ConnectionState)
	if err := h.ServeHTTP(w, r, nothing); err != nil {
		t.Fatal(err)
	}
	if got := w.Header().Get("Location"); got != "https://go.example/documentation" {
		t.Errorf("got %s", got)
	}
}

// Templates make requests of their own (httpInclude), which come without a RequestURI.
func TestARequestThatAHandlerMadeUpIsAnswered(t *testing.T) {
	h, err := testcaddy.Provision(t, benchmarkRules)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("GET", "/source/issues?q=a%2Fb", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, nil)
	if err := h.ServeHTTP(w, r, nothing); err != nil {
		t.Fatal(err)
	}
	if got := w.Header().Get("Location"); got != "https://github.com/caddyserver/caddy/issues?q=a%2Fb" {
		t.Errorf("got %s", got)
	}
}

// Handlers around the redirect may change its headers in place; they must not change those of
// others.
func TestTheHeadersOfARedirectBelongToItAlone(t *testing.T) {
	h, err := testcaddy.Provision(t, `{"rules": {"a": "https://example.com"}, "cache": "1h"}`)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w := httptest.NewRecorder()
		if err := h.ServeHTTP(w, prepare("/a", w), nothing); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"Location": "https://example.com/",
			"Cache-Control": "max-age=3600"} {
			if got := w.Header()[name]; len(got) != 1 || got[0] != want {
				t.Errorf("got %s %q, want %q alone", name, got, want)
			}
			w.Header()[name][0] = "changed"
		}
	}
}

func TestTheErrorOfARequestCarriesItsReason(t *testing.T) {
	h, err := testcaddy.Provision(t, `{"rules": {"a": "/a", "b": "https://example.com"}}`)
	if err != nil {
		t.Fatal(err)
	}
	for target, status := range map[string]int{"/a": 508, "/b/..%2f": 400} {
		w := httptest.NewRecorder()
		err := h.ServeHTTP(w, prepare(target, w), nothing)
		if he, ok := errors.AsType[caddyhttp.HandlerError](err); !ok || he.StatusCode != status ||
			he.Err == nil {
			t.Errorf("%s: got %v", target, err)
		}
	}
}

// BenchmarkServe measures Handler.ServeHTTP from Caddy's prepared request to the header of
// the response, without network, server and routing. Each round has a fresh replacer, as
// each request has: it is made in batches, outside the time and the allocations
// that are reported.
func BenchmarkServe(b *testing.B) {
	h, err := testcaddy.Provision(b, benchmarkRules)
	if err != nil {
		b.Fatal(err)
	}
	advertising, err := testcaddy.Provision(b,
		strings.Replace(benchmarkRules, "{", `{"advertise": {"base_url": "http://go.example"}, `, 1))
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name, target string
		handler      *shortlink.Handler
	}{
		{"redirect", "/github/caddyserver/caddy", h},
		{"redirect_internal", "/docs/getting-started", h},
		{"redirect_query", "/search?q=caddy&page=2", h},
		{"pass", "/not/a/key", h},
		{"pass_advertising", "/not/a/key", advertising},
	} {
		h := bb.handler
		b.Run(bb.name, func(b *testing.B) {
			const batch = 256
			w := testcaddy.NewResponse()
			requests := make([]*http.Request, batch)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%batch == 0 {
					b.StopTimer()
					for j := range requests {
						requests[j] = prepare(bb.target, w)
					}
					b.StartTimer()
				}
				if err := h.ServeHTTP(w, requests[i%batch], nothing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
