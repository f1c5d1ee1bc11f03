package page_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// BenchmarkPage asks for pages of the links page over a socket, with many rules and few.
func BenchmarkPage(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			s := testcaddy.Serve(b, pageOfMany(b, n))
			awaitIndexes(b, s)
			for _, page := range []struct{ name, target, form string }{
				{"home", "/.links/", ""},
				{"search", "/.links/?q=k/1", ""},
				{"words", "/.links/?q=k/1+nowhere", ""},
				{"all by uses", "/.links/?q=&sort=uses", ""},
				{"key", "/.links/key/k/10/500", ""},
				{"unused", "/.links/?q=unused:1d", ""},
				{"preview", "/.links/key/k/10/500", "to=/k/11/501&was=%22https://k.example/500%22"},
				{"miss", "/k/10/5x0", ""},
			} {
				b.Run(page.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						askPage(b, s, page.target, page.form)
					}
				})
			}
		})
	}
}

// pageOfMany is a site with n rules, one of which another leads through.
func pageOfMany(b *testing.B, n int) string {
	var rules strings.Builder
	rules.WriteString("key,destination\nalias,/k/10/500\n")
	for i := range n {
		fmt.Fprintf(&rules, "k/%d/%d,https://k.example/%d\n", i%490, i, i)
	}
	file := filepath.Join(b.TempDir(), "links.csv")
	testcaddy.Write(b, file, rules.String())
	return fmt.Sprintf(`route {
		shortlink {
			from file %s
		}
		shortlink_page {
			user {header.Remote-User}
			misses
		}
	}`, file)
}

// awaitIndexes waits until keys can be searched and suggested: two indexes are made in the
// background.
func awaitIndexes(b *testing.B, s *testcaddy.Server) {
	for !strings.Contains(s.Get(b, "/k/10/50x").Body, "perhaps") ||
		strings.Contains(s.Get(b, "/.links/?q=k/1", "Remote-User: ann").Body, "%23") { // unsorted
		time.Sleep(10 * time.Millisecond)
	}
}

// askPage asks for a page, or sends a form to it.
func askPage(b *testing.B, s *testcaddy.Server, target, form string) {
	method, length := http.MethodGet, ""
	if form != "" {
		method = http.MethodPost
		length = fmt.Sprintf("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n",
			len(form))
	}
	got := s.Raw(b, method, method+" "+target+" HTTP/1.1\r\nHost: go.example\r\nRemote-User: ann\r\n"+
		"Accept: text/html\r\n"+length+"Connection: close\r\n\r\n"+form)
	switch got.Status {
	case http.StatusOK, http.StatusNotFound, http.StatusPreconditionRequired: // a preview is the last
	default:
		b.Fatalf("%s: %d\n%s", target, got.Status, got.Body)
	}
}
