package shortlink

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// FuzzLink holds that a shortlink is seen behind whatever other links come first, and that links are cut without end or loss.
func FuzzLink(f *testing.F) {
	for _, line := range []string{`</a>; rel=next`, `</a>; rel="next"; title="a,b;c\\"d"`, `</a>; rel=x,`, `;;,<`, `<a`, `</a>;rel`, `</a>; rel="x`, `a, <b>; rel=shortlink`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for rest := line; rest != ""; {
			_, next := cutLink(rest)
			if len(next) >= len(rest) {
				t.Fatalf("%q is not shorter than %q", next, rest)
			}
			rest = next
		}
		if strings.Count(line, `"`) > 0 || strings.Contains(line, "<") {
			return // what is open may hold what follows
		}
		if !namesShortlink([]string{line + `, <https://go.example/k>; rel="shortlink"`}) {
			t.Errorf("%q hides the link behind it", line)
		}
	})
}

func TestAResponseThatBecomesAnErrorTellsNoShortURL(t *testing.T) {
	h := &Handler{Advertise: new(Advertise), shortOrigin: "https://go.example"}
	rules, err := resolver.Compile([]resolver.Rule{{Key: "g", Value: "https://go.example/page"}}, resolver.Options{Reverse: true})
	if err != nil {
		t.Fatal(err)
	}
	page, _ := resolver.NewRequest("https", "go.example", "/page")
	page.OverHTTP = true
	for _, fails := range []bool{false, true} {
		w := httptest.NewRecorder()
		w.Header().Add("Link", "</a>; rel=next")
		err := h.pass(w, httptest.NewRequest("GET", "/page", nil), caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			w.(*advertisingWriter).decide(200) // as by a flush that somebody in front holds back
			if fails {
				return errors.New("no page after all")
			}
			return nil
		}), &page, rules)
		if links := w.Header()["Link"]; (err != nil) != fails || len(links) != map[bool]int{false: 2, true: 1}[fails] || links[0] != "</a>; rel=next" {
			t.Errorf("got %v with Link %q", err, links)
		}
	}
}
