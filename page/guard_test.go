package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// A guard is a path matcher of Caddy. Whatever it does not match must not be below the page.
func FuzzNoPathBelowThePageIsUnseenByItsGuard(f *testing.F) {
	for _, target := range []string{
		"/.links", "/.links/", "/.links/key/docs", "/.links/key/../../x", "/.links/key/a%2F..%2F..%2Fx",
		"/.links//", "/.links/./x", "/.links/%2e%2e/", "/.links/%252e/", "/.links/key/a%5C..%5C",
		"//.links/",
		"/%2elinks/", "/.links/\x00", "/.LINKS/", "/.links/key/%FF",
	} {
		f.Add(target)
	}
	guard := caddyhttp.MatchPath{"/.links/*"}
	page := &Page{Path: "/.links"}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Path == "" {
			return
		}
		if _, where := page.locate(u.Path); where != below {
			return
		}
		ctx := context.WithValue(t.Context(), caddy.ReplacerCtxKey, caddy.NewReplacer())
		r := (&http.Request{URL: u}).WithContext(ctx)
		if seen, err := guard.MatchWithError(r); !seen || err != nil {
			t.Errorf("the guard does not see %q, and the page answers it", target)
		}
	})
}

// The page of a key is found under the path that is written for it, in any page's links.
func FuzzThePathOfAKeyNamesTheKey(f *testing.F) {
	for _, key := range []string{
		"docs", "a/b", "a//b", "x/", ".", "a/../b", "50%25", "what%3F", "c d", "größe", "gh/{owner}", "+",
		"a:b",
		"\xff", "?edit", "#top", `"><script>`, "%2e%2e/x",
	} {
		f.Add(key)
	}
	page := &Page{Path: "/.links"}
	f.Fuzz(func(t *testing.T, key string) {
		if key == "" {
			return
		}
		r := httptest.NewRequest("GET", "/.links/"+keyPathWith(key, "edit"), nil)
		rest, where := page.locate(r.URL.Path)
		got, ok := (&request{Request: r, rest: rest}).key()
		if where != below || !ok || got != key || !r.URL.Query().Has("edit") {
			t.Errorf("the path of %q is %s, which names %q", key, r.URL, got)
		}
	})
}

func FuzzOfWhatAClientAcceptsAFormIsChosen(f *testing.F) {
	for _, accept := range []string{"", "*/*", "text/html;q=0.1, application/json", "text/html;q=x",
		";;,"} {
		f.Add(accept)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		chosen := preferred([]string{accept})
		if chosen != formText && !strings.Contains(strings.ToLower(accept), "html") &&
			!strings.Contains(strings.ToLower(accept), "json") {
			t.Errorf("%q is answered with form %d", accept, chosen)
		}
	})
}

func TestTheFormThatAClientPrefersIsChosen(t *testing.T) {
	for accept, want := range map[string]form{
		"": formText, "*/*": formText, "text/html": formHTML, "application/json": formJSON,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": formHTML,
		"application/json, text/html;q=0.5":                                          formJSON,
		"text/html;q=0, application/json;q=0.1":                                      formJSON,
		"text/plain, text/html;q=0.9":                                                formText,
		"TEXT/HTML":                                                                  formHTML,
		"image/png":                                                                  formText,
		"application/json;q=2":                                                       formText,
	} {
		if got := preferred([]string{accept}); got != want {
			t.Errorf("%q is answered with form %d, want %d", accept, got, want)
		}
	}
}
