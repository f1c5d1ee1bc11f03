package shortlink_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	cached, err := testcaddy.Provision(b, strings.Replace(benchmarkRules, "{", `{"cache": "1h", `, 1))
	if err != nil {
		b.Fatal(err)
	}
	windowed, err := testcaddy.Provision(b, strings.Replace(benchmarkRules, `"rules": {`,
		`"cache": "1h", "rules": {"fair": {"to": "https://x.example", "until": "2100-01-01"}, `, 1))
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct {
		name, target string
		handler      *shortlink.Handler
	}{
		{"redirect", "/github/caddyserver/caddy", h},
		{"redirect_cached", "/github/caddyserver/caddy", cached},
		{"redirect_cached_windows", "/github/caddyserver/caddy", windowed},
		{"redirect_cached_window", "/fair", windowed},
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

const tellPlaceholders = `"{http.shortlink.outcome} key={http.shortlink.key} hops={http.shortlink.hops} destination={http.shortlink.destination}"`

func TestLaterHandlersKnowTheOutcome(t *testing.T) {
	tests := map[string]struct{ block, target, want string }{
		"a request that passed": {
			"shortlink {\n a /b\n }\n respond " + tellPlaceholders,
			"/x", "pass key= hops=0 destination=",
		},
		"an error": {
			"shortlink {\n docs https://example.com\n }\n handle_errors {\n respond " + tellPlaceholders +
				"\n }",
			"/docs/..%2f", "error key=docs hops=0 destination=",
		},
		"a redirect, in a header of the response": {
			"header >X-Answer " + tellPlaceholders + "\n shortlink {\n a /b\n b https://example.com\n }",
			"/a/c", "redirect key=a hops=1 destination=https://example.com/c",
		},
		"of two handlers that both let it pass": {
			"route {\n shortlink {\n a /b\n }\n shortlink {\n c /d\n }\n respond " + tellPlaceholders +
				"\n }",
			"/x", "pass key= hops=0 destination=",
		},
		"of two handlers, the second of which redirects": {
			"header >X-Answer " + tellPlaceholders +
				"\n route {\n shortlink {\n a /b\n }\n shortlink {\n c https://example.com\n }\n }",
			"/c", "redirect key=c hops=0 destination=https://example.com/",
		},
		"of a handler that fails and one in handle_errors that lets it pass": {
			"shortlink {\n a https://example.com\n }\n handle_errors {\n shortlink {\n b /c\n }\n respond " +
				tellPlaceholders + "\n }",
			"/a/..%2f", "pass key= hops=0 destination=",
		},
		"of three handlers, which fail, let it pass and redirect": {
			"header >X-Answer " + tellPlaceholders + "\n shortlink {\n a /a\n }\n" +
				"handle_errors {\n header >X-Answer " + tellPlaceholders +
				"\n shortlink {\n b /c\n }\n route {\n shortlink {\n a https://example.com\n }\n }\n }",
			"/a", "redirect key=a hops=0 destination=https://example.com/",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := testcaddy.Serve(t, tt.block)
			got := s.Get(t, tt.target)
			answer := got.Body + got.Header.Get("X-Answer")
			if answer != tt.want {
				t.Errorf("got %q, want %q", answer, tt.want)
			}
		})
	}
}

func TestTheAccessLogCanTellTheOutcome(t *testing.T) {
	logFile := filepath.Join(t.TempDir(), "access.log")
	s := testcaddy.Serve(t, `log {
		output file `+logFile+`
	}
	log_append outcome {http.shortlink.outcome}
	log_append key {http.shortlink.key}
	log_append hops {http.shortlink.hops}
	shortlink {
		a /b
		b https://example.com
	}`)
	s.Get(t, "/a")
	s.Load(t, "respond bye") // closes the log
	content, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		Outcome, Key string
		Hops         int
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(string(content))), &entry); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	if entry.Outcome != "redirect" || entry.Key != "a" || entry.Hops != 1 {
		t.Errorf("the log says %s", content)
	}
}

const goneAndPass = `shortlink {
	old gone
	docs https://new.example
	docs/api pass
	a /old/x
	b /docs/api/v1
	p/{id} gone exact
	q https://q.example
	q/{x}/raw pass
	gone https://gone.example
	rule name pass
}
handle_errors {
	respond "error {http.error.status_code} " {http.error.status_code}
}
respond "next" 299
`

func TestGoneIsAnErrorAndPassGoesToTheNextHandler(t *testing.T) {
	s := testcaddy.Serve(t, goneAndPass)
	for target, want := range map[string]string{
		"/old":              "410 error 410",
		"/old/a/b?q=1":      "410 error 410",
		"/old/..%2fa":       "400 error 400",
		"/older":            "299 next",
		"/a/y":              "410 error 410",
		"/docs/guide":       "302 https://new.example/guide",
		"/docs/api":         "299 next",
		"/docs/api/v1?q=1":  "299 next",
		"/docs/api/..%2fv1": "299 next",
		"/b/c?q=1":          "302 http://go.example/docs/api/v1/c?q=1",
		"/b/..%2fc":         "400 error 400",
		"/p/1":              "410 error 410",
		"/p/1/":             "410 error 410",
		"/p/1/2":            "299 next",
		"/q/1/raw/x":        "299 next",
		"/q/1/x":            "302 https://q.example/1/x",
		"/gone/x":           "302 https://gone.example/x",
		"/name":             "299 next",
	} {
		got := s.Get(t, target)
		answer := strings.TrimSpace(fmt.Sprint(got.Status, " ", got.Body, got.Header.Get("Location")))
		if answer != want {
			t.Errorf("%s: got %q, want %q", target, answer, want)
		}
	}
}

func TestAPassIsSeenByTheNextHandlerAsItCame(t *testing.T) {
	s := testcaddy.Serve(t, "shortlink {\n docs https://new.example\n docs/api pass\n }\n"+
		"respond \"{http.request.orig_uri} {http.request.method}\"")
	if got := s.Get(t, "/docs/api/%7eA//b?x=1&x=2"); got.Body != "/docs/api/%7eA//b?x=1&x=2 GET" {
		t.Errorf("%q", got.Body)
	}
}

func TestLaterHandlersKnowWhatIsGoneAndWhatPassed(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		old gone
		a /old
		docs https://new.example
		docs/api pass
		self https://go.example/self
	}
	handle_errors {
		respond `+tellPlaceholders+`
	}
	respond `+tellPlaceholders)
	for target, want := range map[string]string{
		"/old/x":    "gone key=old hops=0 destination=",
		"/a":        "gone key=a hops=1 destination=",
		"/docs/api": "pass key=docs/api hops=0 destination=",
		"/nothing":  "pass key= hops=0 destination=",
	} {
		if got := s.Get(t, target); got.Body != want {
			t.Errorf("%s: got %q, want %q", target, got.Body, want)
		}
	}
}

func TestMetricsHitsAndLogsCountGoneAndPass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	s := testcaddy.Administer(t, "", "log {\n output file "+path+"\n }\n"+
		strings.Replace(goneAndPass, "shortlink {", "shortlink {\n name links", 1))
	for _, target := range []string{"/old/x", "/a", "/docs/api/x", "/nothing"} {
		s.Get(t, target)
	}
	got := s.Scrape(t)
	for name, want := range map[string]string{"gone": "2", "pass": "2", "redirect": "0", "error": "0"} {
		name = fmt.Sprintf(`caddy_shortlink_requests_total{name="links",outcome=%q}`, name)
		if got[name] != want {
			t.Errorf("%s is %q, want %s", name, got[name], want)
		}
	}
	var hits struct {
		Hits map[string]struct{ Count int }
	}
	testcaddy.Must(t, json.Unmarshal([]byte(s.Ask(t, "GET", "links/hits", "").Body), &hits))
	for key, want := range map[string]int{"old": 1, "a": 1, "docs/api": 1, "docs": 0} {
		if hits.Hits[key].Count != want {
			t.Errorf("%s has %d hits, want %d", key, hits.Hits[key].Count, want)
		}
	}
	want := []string{
		"map[destination: hops:0 key:old outcome:gone]",
		"map[destination: hops:1 key:a outcome:gone]",
		"map[destination: hops:0 key:docs/api outcome:pass]",
		"map[outcome:pass]",
	}
	log := &testcaddy.Follower{Log: path}
	for i := range want {
		if got := fmt.Sprint(log.Logged(t, i+1, "handled request")["shortlink"]); got != want[i] {
			t.Errorf("the log says %s, want %s", got, want[i])
		}
	}
}

func TestGoneAndPassAreEditedWhileCaddyRuns(t *testing.T) {
	for name, content := range map[string]string{
		"links.json": `{"docs": "https://new.example", "old": "https://old.example"}`,
		"links.csv":  "docs,https://new.example\nold,https://old.example\n",
	} {
		t.Run(name, func(t *testing.T) {
			links := filepath.Join(t.TempDir(), name)
			testcaddy.Write(t, links, content)
			s := testcaddy.Administer(t, "",
				"shortlink {\n from file "+links+"\n name links\n }\n respond 299")
			s.Says(t, "Note: this rule was replaced: old https://old.example\nold gone\n", 0, "add", "old", "gone")
			if got := s.Put(t, "docs/api", `{"to": "pass", "exact": true}`); got.Status != 201 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			for target, want := range map[string]string{
				"/old/x": "410", "/docs/api": "299", "/docs/api/x": "302 https://new.example/api/x",
			} {
				if got := s.Get(t, target).Location(); got != want {
					t.Errorf("%s: %s, want %s", target, got, want)
				}
			}
			if got := s.Put(t, "old", `{"to": "gone", "status": 301}`); got.Status != 422 ||
				!strings.Contains(got.Said(t), "gone is always answered with 410") {
				t.Errorf("%d %s", got.Status, got.Body)
			}
			body := s.Ask(t, "GET", "links/resolve?url=/old", "").Body
			if !strings.Contains(body, `"outcome":"gone","key":"old","hops":0`) {
				t.Error(body)
			}
		})
	}
}

func TestAURLAloneIsNotGone(t *testing.T) {
	got, exit := testcaddy.Run([]string{"shortlink", "add", "gone"}, "")
	if exit != 2 || !strings.Contains(got, "add needs a key before gone") {
		t.Errorf("%q, %d", got, exit)
	}
}

func TestExpectationsCanBeThatAPathIsGone(t *testing.T) {
	const rules = "\n old gone\n docs https://new.example\n docs/api pass\n }"
	s := testcaddy.Serve(t, "shortlink {\n expect /old/x gone\n expect /docs/api pass\n expect /old/..%2f error"+
		rules)
	for line, want := range map[string]string{
		"expect /docs gone":     `expect /docs gone: it is https://new.example/, by the key "docs"`,
		"expect /old pass":      `expect /old pass: it is gone, by the key "old"`,
		"expect /docs/api gone": `expect /docs/api gone: it is pass, by the key "docs/api"`,
	} {
		err := s.TryToLoad(t, "shortlink {\n "+line+rules)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestAPageThatPassesTellsItsShortURL(t *testing.T) {
	s := testcaddy.Serve(t, `shortlink {
		docs https://new.example
		docs/api pass
		g /docs/api
		old gone
		origin http://go.example
		advertise
	}
	respond ok`)
	if got := s.Get(t, "/docs/api").Header.Get("Link"); got != `<http://go.example/g>; rel="shortlink"` {
		t.Errorf("%q", got)
	}
	if got := s.Get(t, "/old").Header.Get("Link"); got != "" {
		t.Errorf("%q", got)
	}
}
