package bench

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// way is one way for Caddy to redirect n paths, each to its own URL.
type way struct {
	name  string
	most  int // number of rules that load within seconds
	block func(n int) string
}

// waysToRedirect returns this handler and Caddy's own alternatives. The comparison favours map:
// with other pages, a site would also have to keep their requests from redir.
func waysToRedirect() []way {
	return []way{
		{"shortlink", 1_000_000, func(n int) string {
			return "shortlink {\n" + linePerRule(n, "%s %s\n") + "}"
		}},
		{"redir", 10_000, func(n int) string { return linePerRule(n, "redir /%s %s 302\n") }},
		{"map", 100_000, func(n int) string {
			return "map {path} {target} {\n" + linePerRule(n, "/%s %s\n") + "}\nredir {target} 302"
		}},
	}
}

// linePerRule writes n rules with a format for key and URL.
func linePerRule(n int, format string) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, format, compareKey(i), compareURL(i))
	}
	return lines.String()
}

// compareKey returns a key of 12 bytes.
func compareKey(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

// compareURL returns a URL of 60 bytes.
func compareURL(i int) string {
	return fmt.Sprintf("https://www.example.com/articles/%027d", i)
}

// caddyfileOf returns a Caddyfile with one site that contains block.
func caddyfileOf(b *testing.B, block string) string {
	return fmt.Sprintf(`{
	admin off
	persist_config off
	storage file_system %q
	log default {
		output discard
	}
}
http://:0 {
	bind 127.0.0.1
	%s
}
`, testcaddy.StorageDir(b), block)
}

// start makes Caddy adapt and run a Caddyfile, which replaces the previous one.
func start(b *testing.B, caddyfile string) {
	b.Helper()
	config, err := testcaddy.Adapt(caddyfile)
	if err != nil {
		b.Fatal(err)
	}
	if err := caddy.Load(config, true); err != nil {
		b.Fatal(err)
	}
}

// stop stops Caddy at the end of the benchmark.
func stop(b *testing.B) {
	b.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			b.Error(err)
		}
	})
}

// runningServer returns the HTTP server of the running Caddy. net/http calls it for each request.
func runningServer(b *testing.B) http.Handler {
	b.Helper()
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		b.Fatal(err)
	}
	return app.(*caddyhttp.App).Servers["srv0"]
}

// BenchmarkCompare measures Caddy's whole server without network, from the parsed request to the
// response header. It requests the same rules in three ways, in random order. static is one
// redirect for all paths, the minimum for Caddy.
func BenchmarkCompare(b *testing.B) {
	stop(b)
	b.Run("static", func(b *testing.B) {
		start(b, caddyfileOf(b, "redir "+compareURL(0)+" 302"))
		serveInTurn(b, []int{0})
	})
	for _, n := range []int{10, 1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			order := rand.New(rand.NewPCG(1, 2)).Perm(n)
			for _, way := range waysToRedirect() {
				if n > way.most {
					continue
				}
				start(b, caddyfileOf(b, way.block(n)))
				b.Run(way.name, func(b *testing.B) { serveInTurn(b, order) })
			}
		})
	}
}

// serveInTurn requests the rules of these numbers, one after the other.
func serveInTurn(b *testing.B, order []int) {
	server := runningServer(b)
	paths := make([]string, len(order))
	for at, i := range order {
		paths[at] = "/" + compareKey(i)
	}
	w := testcaddy.NewResponse()
	r := httptest.NewRequest("GET", "http://go.example/", nil)
	ask := func(path string) {
		clear(w.Header())
		r.URL.Path, r.RequestURI = path, path
		server.ServeHTTP(w, r)
		if w.Status != http.StatusFound {
			b.Fatalf("%s: got status %d", path, w.Status)
		}
	}
	for at, i := range order[:min(len(order), 100)] {
		ask(paths[at])
		if got := w.Header().Get("Location"); got != compareURL(i) {
			b.Fatalf("%s: got %s, want %s", paths[at], got, compareURL(i))
		}
	}
	next := 0
	b.ReportAllocs()
	for b.Loop() {
		ask(paths[next])
		if next++; next == len(paths) {
			next = 0
		}
	}
}

// BenchmarkLoad measures how long Caddy takes to load a Caddyfile and serve it. It also measures
// the memory for each rule, including Caddy's own copy of the configuration.
func BenchmarkLoad(b *testing.B) {
	stop(b)
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			for _, way := range waysToRedirect() {
				if n > way.most {
					continue
				}
				b.Run(way.name, func(b *testing.B) {
					caddyfile := caddyfileOf(b, way.block(n))
					start(b, caddyfileOf(b, "redir "+compareURL(0)+" 302"))
					before := testcaddy.Heap()
					for b.Loop() {
						start(b, caddyfile)
					}
					b.ReportMetric(float64(testcaddy.Heap()-before)/float64(n), "heap-bytes/rule")
				})
			}
		})
	}
}
