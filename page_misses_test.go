package shortlink_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnmatchedPathsNameTheLinksThatWerePerhapsMeant(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	write(t, file, `{"handbook": "https://docs.example", "secretbook": {"to": "https://x.test",
		"unlisted": true}, "c++": "https://cpp.example"}`)
	s := serve(t, fmt.Sprintf(`route {
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
	}`, file, signIn))
	s.eventuallySuggests(t, "/handbok", "/handbook")
	s.get(t, "/handbok", asHTML).wants(t, 404, `href="/handbook"`, "Perhaps you meant")
	s.get(t, "/handbok", asJSON).wants(t, 404, `"suggestions":[{"key":"handbook","url":"/handbook"}]`)
	if got := s.get(t, "/secretbok"); strings.Contains(got.body, "secretbook") {
		t.Error("an unlisted link is suggested:", got.body)
	}
	for target, want := range map[string]string{
		"/handbook+": "303 /.links/key/handbook", "/c+++": "303 /.links/key/c++",
		"/c++": "302 https://cpp.example/", "/nothing+": "404",
	} {
		if got := s.get(t, target).location(); got != want {
			t.Errorf("%s got %s, want %s", target, got, want)
		}
	}
	if got := s.get(t, "/handbok", asHTML); strings.Contains(got.body, "new?key=") {
		t.Error("everybody is invited to make a link:", got.body)
	}
	s.get(t, "/.links/", asHTML).wants(t, 401)
}

func TestSuggestionsStandBelowThePathThatWasCut(t *testing.T) {
	s := serve(t, `handle_path /go/* {
		shortlink {
			handbook https://docs.example
		}
		shortlink_page {
			misses
		}
	}`)
	s.eventuallySuggests(t, "/go/handbok", "/go/handbook")
	if got := s.get(t, "/go/handbook").location(); got != "302 https://docs.example/" {
		t.Error("the suggestion leads to", got)
	}
}

// eventuallySuggests waits until a link is suggested: an index of keys is made beside the requests.
func (s *server) eventuallySuggests(t *testing.T, target, want string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(s.get(t, target).body, want) {
			return
		}
	}
	t.Fatalf("%s never suggests %s", target, want)
}
