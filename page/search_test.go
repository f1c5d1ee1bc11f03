package page_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// foundPage is a page of a search as JSON.
type foundPage struct {
	Rules, Suggestions []struct {
		Key, Path, Last string
		Uses            *uint64
	}
	Total    int
	AtLeast  bool   `json:"at_least"`
	Next     string `json:"next"`
	NextPage string `json:"next_page"`
	Sort     string
}

func (f foundPage) keys() (keys []string) {
	for _, rule := range f.Rules {
		keys = append(keys, rule.Key)
	}
	return keys
}

// find searches, and returns a page of what was found.
func find(t *testing.T, s *testcaddy.Server, query string) (found foundPage) {
	t.Helper()
	got := s.Get(t, "/.links/"+query, testcaddy.AsAnn, testcaddy.AsJSON)
	got.Wants(t, 200)
	testcaddy.Must(t, json.Unmarshal([]byte(got.Body), &found))
	return found
}

// findAll searches page by page.
func findAll(t *testing.T, s *testcaddy.Server, query string) (keys []string, totals []int) {
	t.Helper()
	for query != "" {
		found := find(t, s, query)
		keys, totals = append(keys, found.keys()...), append(totals, found.Total)
		query = strings.TrimPrefix(found.NextPage, "./")
	}
	return keys, totals
}

const linksOfATeam = `{
	"docs": {"to": "https://docs.example/handbook", "note": "of the whole team"},
	"gh/{owner}": "https://github.com/{owner}",
	"home": "/docs",
	"menu/café": "https://food.example/Men%C3%BC",
	"wiki": "https://wiki.example/Start_Page"
}`

func TestAPastedShortURLOrDestinationFindsItsLink(t *testing.T) {
	s, file := servePage(t, linksOfATeam, "")
	check := func(texts map[string]string) {
		t.Helper()
		for text, want := range texts {
			found := find(t, s, "?q="+url.QueryEscape(text))
			if got := strings.Join(found.keys(), " "); got != want || found.Total != len(found.Rules) {
				t.Errorf("%q finds %q, %d in total, want %q", text, got, found.Total, want)
			}
		}
	}
	check(map[string]string{
		"https://go.example/docs?x=1":       "docs home",
		"http://GO.example/docs/page#top":   "docs",
		"go.example/docs/page":              "docs",
		"go.example/gh/caddyserver/caddy":   "gh/{owner}",
		"/wiki?action=edit":                 "wiki",
		"https://go.example/menu/Caf%C3%A9": "menu/café",
		"https://docs.example/handbook":     "docs",
		"food.example/menu":                 "menu/café",
		"team docs":                         "docs",
		"CAFE":                              "menu/café",
		"cafe nobody":                       "",
		"docs/nothing":                      "docs",
		"https://go.example/":               "docs gh/{owner} home menu/café wiki",
	})
	s.Get(t, "/.links/?q=go.example/docs/x", testcaddy.AsAnn, testcaddy.AsHTML).
		Wants(t, 200, "First comes the link that answers this short URL.")
	s.Load(t, "@site host go go.example *.go.example\nhandle @site {\n"+
		testcaddy.PageBlock(file, "")+"\n}")
	check(map[string]string{
		"go/docs/x": "docs", "https://a.go.example/wiki": "wiki", "b.go.example/wiki": "wiki",
		"https://go.test/docs/x": "", "elsewhere/docs": "", "docs/x": "docs",
	})
}

func TestWhereNothingIsFoundKeysNearAreNamed(t *testing.T) {
	s, _ := servePage(t, linksOfATeam, "")
	found := find(t, s, "?q=dosc") // the first search of all
	if len(found.Rules) != 0 || len(found.Suggestions) != 1 || found.Suggestions[0].Key != "docs" {
		t.Errorf("dosc finds %+v", found)
	}
	s.Get(t, "/.links/?q=wikki", testcaddy.AsAnn, testcaddy.AsHTML).Wants(t, 200,
		"Nothing found.</b> <bdi></bdi>", "Perhaps you meant", `href="./key/wiki"`,
		`href="./new?key=wikki"`)
	s.Get(t, "/.links/?q=wikki", testcaddy.AsAnn).Wants(t, 200, "perhaps: wiki\n")
}

func TestEachListHasUsesOrdersATotalAndWaysToDestinations(t *testing.T) {
	s, _ := servePage(t, linksOfATeam, "")
	for range 3 {
		s.Get(t, "/wiki")
	}
	s.Get(t, "/docs")
	s.Post(t, "/.links/new", "key=fresh&to=https://fresh.example/").Wants(t, 201)
	usesOf := func(key, uses string) string {
		last := "time"
		if uses == "0" {
			last = "span>never"
		}
		return `href="./key/` + key + `"(?s:.{0,700})<td class="number"><span>` + uses +
			`×</span></td>\s*<td class="when"><` + last
	}
	for target, wants := range map[string][]string{
		"":                                    {usesOf("wiki", "3"), usesOf("fresh", "0")},
		"?q=":                                 {usesOf("wiki", "3"), usesOf("home", "0"), "6 links"},
		"?q=wiki":                             {usesOf("wiki", "3"), "1 link"},
		"?q=unused:1m":                        {usesOf("home", "0"), "4 links"},
		"?q=to:https://docs.example/handbook": {"2 links", usesOf("home", "0")},
		"?q=w&sort=uses":                      {`"descending"><a href="./\?q=w&amp;sort=uses"`},
	} {
		body := s.Get(t, "/.links/"+target, testcaddy.AsAnn, testcaddy.AsHTML).Body
		for _, want := range append(wants, `<a class="to" href="http`, `rel="noreferrer"`, "sort=uses") {
			if !regexp.MustCompile(want).MatchString(body) {
				t.Errorf("%q has no %s:\n%s", target, want, body)
			}
		}
	}
	page := s.Get(t, "/.links/?q=", testcaddy.AsAnn, testcaddy.AsHTML)
	page.Wants(t, 200, `<a class="to" href="https://wiki.example/Start_Page" rel="noreferrer">`,
		`<a class="to" href="http://go.example/docs" rel="noreferrer">`, // a path
		`<span class="to"><bdi>https://github.com/{owner}`)
}

func TestListsAreSortedByUsesOrByKey(t *testing.T) {
	s, _ := servePage(t, linksOfATeam, "")
	for path, n := range map[string]int{"/wiki": 2, "/home": 3, "/menu/café": 1} {
		for range n {
			s.Get(t, (&url.URL{Path: path}).EscapedPath())
		}
	}
	for query, want := range map[string]string{
		"?q=":                    "docs gh/{owner} home menu/café wiki",
		"?q=&sort=uses":          "home wiki menu/café docs gh/{owner}",
		"?q=example&sort=uses":   "wiki menu/café docs",
		"?q=unused:1m&sort=uses": "gh/{owner}",
		"?q=to:https://docs.example/handbook&sort=uses": "home docs",
		"?q=to:https://docs.example/handbook&sort=key":  "docs home",
	} {
		found := find(t, s, query)
		if got := strings.Join(found.keys(), " "); got != want || found.Total != len(found.Rules) {
			t.Errorf("%s has %q, %d in total, want %q", query, got, found.Total, want)
		}
	}
	if found := find(t, s, "?q=wiki"); *found.Rules[0].Uses != 2 || found.Rules[0].Last == "" {
		t.Errorf("the wiki is %+v", found)
	}
}

func TestPagesOfEachOrderHaveEachLinkOnce(t *testing.T) {
	var rules strings.Builder
	for i := range 250 {
		fmt.Fprintf(&rules, "%c\n\t\"k/%03d\": \"https://k.example/%d\"", "{,"[min(i, 1)], i, i%2)
	}
	s, _ := servePage(t, rules.String()+"}", "")
	for i := range 120 {
		s.Get(t, fmt.Sprintf("/k/%03d", i*2))
		if i%3 == 0 {
			s.Get(t, fmt.Sprintf("/k/%03d", i*2))
		}
	}
	for _, query := range []string{
		"?q=", "?q=k", "?q=example", "?q=&sort=uses", "?q=k&sort=uses", "?q=unused:1m",
		"?q=to:https://k.example/1", "?q=to:https://k.example/0&sort=uses",
	} {
		want := 250
		if strings.Contains(query, "to:") {
			want = 125
		} else if strings.Contains(query, "unused:") {
			want = 130
		}
		keys, totals := findAll(t, s, query)
		slices.Sort(keys)
		if len(keys) != want || len(slices.Compact(keys)) != want ||
			slices.ContainsFunc(totals, func(n int) bool { return n != want }) {
			t.Errorf("%s has %d links with totals %d, want %d", query, len(keys), totals, want)
		}
	}
}

func TestALinkOfAnUnknownHostIsADestinationFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	testcaddy.Write(t, file, `{"docs": "https://go/docs", "more": "https://go/docs"}`)
	s := testcaddy.Serve(t, testcaddy.PageBlock(file, ""))
	for text, want := range map[string]string{
		"https://go/docs": "docs more", "https://other/docs": "docs", "other/docs": "docs",
	} {
		found := find(t, s, "?q="+url.QueryEscape(text))
		if got := strings.Join(found.keys(), " "); got != want {
			t.Errorf("%s finds %q, want %q", text, got, want)
		}
	}
}
