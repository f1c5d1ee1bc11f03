package shortlink

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/reverse"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestAResponseThatBecomesAnErrorTellsNoShortURL(t *testing.T) {
	h := &Handler{Advertise: new(Advertise), shortOrigin: "https://go.example"}
	rules, err := resolver.Compile([]resolver.Rule{{Key: "g", Value: "https://go.example/page"}},
		resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	serving := &live.Loaded{Rules: schedule.Rules{Ruleset: rules}, Reverse: reverse.New(rules)}
	page, _ := resolver.NewRequest("https", "go.example", "/page")
	page.OverHTTP = true
	for _, fails := range []bool{false, true} {
		w := httptest.NewRecorder()
		w.Header().Add("Link", "</a>; rel=next")
		err := h.pass(w, httptest.NewRequest("GET", "/page", nil),
			caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				w.(*advertisingWriter).decide(200) // as by a flush that somebody in front holds back
				if fails {
					return errors.New("no page after all")
				}
				return nil
			}), &page, serving)
		if links := w.Header()["Link"]; (err != nil) != fails ||
			len(links) != map[bool]int{false: 2, true: 1}[fails] || links[0] != "</a>; rel=next" {
			t.Errorf("got %v with Link %q", err, links)
		}
	}
}
