package page_test

import (
	"encoding/json"
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
	s.Get(t, "/go/handbok").Wants(t, 404, "perhaps: /go/handbook")
	if got := s.Get(t, "/go/handbook").Location(); got != "302 https://docs.example/" {
		t.Error("the suggestion leads to", got)
	}
}

// manyLinks are 1,965 links, several of which end in /handbook, and two to paths that are misspelt.
func manyLinks() string {
	links := map[string]string{
		"handbook": "https://x.example", "sre/oncall": "https://x.example",
		"start": "/hanbook", "contact": "/people/teem/all", "people/team/all": "https://x.example",
	}
	for _, team := range []string{"acme", "design", "eng", "hr", "sales"} {
		links[team+"/handbook"] = "https://x.example"
		links[team+"/oncall"] = "https://x.example"
	}
	for i := len(links); i < 1965; i++ {
		links[fmt.Sprintf("team-%04d/page-%d", i, i%7)] = "https://x.example"
	}
	text, _ := json.Marshal(links)
	return string(text)
}

func TestAllWhoNameWhatWasPerhapsMeantNameTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, manyLinks())
	s := testcaddy.Serve(t, testcaddy.PageBlock(file, "misses"))
	for _, tt := range []struct {
		path, want string
		isWarnedOf bool // as a rule leads there
	}{
		{"/hanbook", "handbook", true}, {"/people/teem/all", "people/team/all", true},
		{"/srw/oncall", "sre/oncall", false}, {"/hr/x/hanbook", "hr/handbook", false},
		{"/Team-0321/Page_6", "team-0321/page-6", false},
	} {
		first := func(text, before string) string {
			_, text, _ = strings.Cut(text, before)
			return strings.FieldsFunc(text+" ", func(r rune) bool { return strings.ContainsRune(" ,\n()\"", r) })[0]
		}
		log := fmt.Sprintf(`{"request":{"host":"x","method":"GET","uri":%q},"status":404}`, tt.path)
		explained, _ := testcaddy.Run([]string{"shortlink", "resolve", "--rules", file, "--explain",
			tt.path}, "")
		covered, _ := testcaddy.Run([]string{"shortlink", "coverage", "--rules", file, "-"}, log)
		checked, _ := testcaddy.Run([]string{"shortlink", "check", "--rules", file}, "")
		got := map[string]string{
			"404":       first(s.Get(t, tt.path).Body, "perhaps: /"),
			"page":      first(s.Get(t, "/.links/key"+tt.path, testcaddy.AsAnn).Body, "perhaps: /"),
			"try":       first(s.Get(t, "/.links/try?url="+tt.path, testcaddy.AsAnn).Body, "perhaps "),
			"--explain": first(explained, "perhaps "), "coverage": first(covered, "perhaps key "),
		}
		if tt.isWarnedOf {
			got["directive"] = first(checked, "no key answers "+tt.path+", and the key ")
		}
		for who, key := range got {
			if key != tt.want {
				t.Errorf("%s: %s names %s, want %s", tt.path, who, key, tt.want)
			}
		}
	}
}

func TestOfKeysThatAreEquallyNearTheMostUsedComesFirst(t *testing.T) {
	s, _ := servePage(t, `{"hr/handbook": "https://x.example", "it/handbook": "https://x.example"}`,
		"misses")
	s.Get(t, "/handbok").Wants(t, 404, "perhaps: /hr/handbook\nperhaps: /it/handbook")
	s.Get(t, "/it/handbook")
	s.Get(t, "/handbok").Wants(t, 404, "perhaps: /it/handbook\nperhaps: /hr/handbook")
	s.Get(t, "/.links/try?url=/handbok", testcaddy.AsAnn).Wants(t, 200, "perhaps it/handbook (")
}
