package page_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

func TestUnmatchedPathsNameTheLinksThatWerePerhapsMeant(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, `{"handbook": "https://docs.example", "secretbook": {"to": "https://x.test",
		"unlisted": true}, "c++": "https://cpp.example"}`)
	s := testcaddy.Serve(t, fmt.Sprintf(`route {
		shortlink {
			from file %s
			name go
		}
		%s
		shortlink_page {
			handler go
			misses
		}
	}
	handle_errors {
		respond "somebody else's error page"
	}`, file, testcaddy.SignIn))
	eventuallySuggests(t, s, "/handbok", "/handbook")
	s.Get(t, "/handbok", testcaddy.AsHTML).Wants(t, 404, `href="/handbook"`, "Perhaps you meant")
	s.Get(t, "/handbok", testcaddy.AsJSON).Wants(t, 404, `"suggestions":[{"key":"handbook","url":"/handbook"}]`)
	if got := s.Get(t, "/secretbok"); strings.Contains(got.Body, "secretbook") {
		t.Error("an unlisted link is suggested:", got.Body)
	}
	for target, want := range map[string]string{
		"/handbook+": "303 /.links/key/handbook", "/c+++": "303 /.links/key/c++",
		"/c++": "302 https://cpp.example/", "/nothing+": "404",
	} {
		if got := s.Get(t, target).Location(); got != want {
			t.Errorf("%s got %s, want %s", target, got, want)
		}
	}
	if got := s.Get(t, "/handbok", testcaddy.AsHTML); strings.Contains(got.Body, "new?key=") {
		t.Error("everybody is invited to make a link:", got.Body)
	}
	s.Get(t, "/.links/", testcaddy.AsHTML).Wants(t, 401)
}

func TestSuggestionsStandBelowThePathThatWasCut(t *testing.T) {
	s := testcaddy.Serve(t, `handle_path /go/* {
		shortlink {
			handbook https://docs.example
		}
		shortlink_page {
			misses
		}
	}`)
	eventuallySuggests(t, s, "/go/handbok", "/go/handbook")
	if got := s.Get(t, "/go/handbook").Location(); got != "302 https://docs.example/" {
		t.Error("the suggestion leads to", got)
	}
}

// eventuallySuggests waits until a link is suggested: an index of keys is made beside the requests.
func eventuallySuggests(t *testing.T, s *testcaddy.Server, target, want string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(s.Get(t, target).Body, want) {
			return
		}
	}
	t.Fatalf("%s never suggests %s", target, want)
}
