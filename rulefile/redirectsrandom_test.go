package rulefile_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// randomTable makes lines of so few words that they overlap, and lead into each other.
type randomTable struct {
	*rand.Rand
	dialect rulefile.Dialect
}

// requestsPerTable is how many requests each random table gets.
const requestsPerTable = 25

func (r randomTable) one(of ...string) string { return of[r.IntN(len(of))] }

// rarely returns text once in n times, and otherwise "".
func (r randomTable) rarely(n int, text string) string {
	if r.IntN(n) > 0 {
		return ""
	}
	return text
}

// words returns a path of up to most words.
func (r randomTable) words(most int, of ...string) string {
	path := ""
	for range 1 + r.IntN(most) {
		path += "/" + r.one(of...)
	}
	return path
}

// lines returns a table in which some lines have the path of an earlier one.
func (r randomTable) lines() []string {
	lines := make([]string, 1+r.IntN(6)+8*(r.IntN(8)/7))
	for i := range lines {
		from := r.from()
		if i > 0 && r.IntN(6) == 0 {
			from, _, _ = strings.Cut(lines[r.IntN(i)], " ")
		}
		lines[i] = from + " " + r.to(from) + r.end()
		if r.dialect == rulefile.Netlify && r.IntN(10) == 0 {
			lines[i] = from + r.one(" /gone.html 410", " /gone.html 410", " q=2 /b")
		}
	}
	return lines
}

// from returns a path with at most one "*", and no placeholder twice.
func (r randomTable) from() string {
	switch r.IntN(12) {
	case 0:
		return r.one("/", "/*", "/:x", "/:x/*")
	case 1:
		return r.words(1, "a", "b") + "/*" + r.one("", "/c") + r.words(1, "b", "c", ":y")
	case 2:
		return r.one("", "/a", "/:y") + r.words(1, "a", "b") + "*" + r.rarely(4, "/b")
	case 3:
		return r.special()
	}
	path := r.words(3, "a", "b", "c")
	if r.IntN(3) == 0 {
		path = r.one("/a", "/b", "") + r.one("/:x", "/:x", "/:x/:y") + r.one("", "/a", "/b")
	}
	return path + r.one("", "", "", "/", "/*", "/*")
}

// special returns a path that only one of the dialects knows.
func (r randomTable) special() string {
	if r.dialect == rulefile.Cloudflare {
		return r.words(1, "a", "b") + r.one("*/b", "/x:x", "/:x-:y", "/*b", "/:x.html", "*b/c")
	}
	return "https://" + r.one(siteHost, "other.example") + r.words(2, "a", "b") + r.one("", "/*")
}

var namesOf = regexp.MustCompile(`:[xy]\b`)

// to returns a destination, most often for the values that a path has.
func (r randomTable) to(from string) string {
	of := append([]string{"a", "b", "c", "z"}, namesOf.FindAllString(from, -1)...)
	to := r.words(3, of...)
	switch r.IntN(8) {
	case 0, 1:
		to = "https://to.example" + to
	case 2:
		to = "https://" + siteHost + to
	case 3: // to itself, or below
		to = strings.NewReplacer("/*", "", "*", "").Replace(from) + r.one("", "/", "/b")
	case 4:
		to = r.one("/", "https://to.example", "/v:x/a")
	}
	if strings.Contains(from, "*") && r.IntN(3) > 0 {
		to = strings.TrimSuffix(to, "/") +
			r.one("/:splat", "/:splat", "/:splat/b", "/p:splat", "/:splat/")
	}
	if len(of) > 4 {
		to += r.rarely(8, "?v="+of[4])
	}
	if !strings.Contains(to, "?") {
		to += r.one("", "", "", "", "/", "?q=1", "#f")
	}
	if !strings.HasPrefix(to, "https:") {
		to = "/" + to
	}
	return withSingleSlashes(to)
}

// end returns the words behind a destination.
func (r randomTable) end() string {
	if r.dialect == rulefile.Cloudflare {
		return r.one("", "", " 301", " 303", " 307", " 308", " 200")
	}
	return r.one("", "", "", "", " 302", " 308", " 301!", " 200", " 404", " 404!",
		" 302 Language=en")
}

// request returns a path, and perhaps a query.
func (r randomTable) request(lines []string) string {
	if r.IntN(2) == 0 {
		requests := requestsOf(lines[r.IntN(len(lines))])
		return requests[r.IntN(len(requests))]
	}
	return r.one("/", r.words(4, "a", "b", "c", "ab", "z")) + r.rarely(4, "/") + r.rarely(6, "?q=2")
}

func TestRandomNetlifyLinesLeadWhereTheyLed(t *testing.T) {
	testRandomTables(t, rulefile.Netlify)
}

func TestRandomCloudflareLinesLeadWhereTheyLed(t *testing.T) {
	testRandomTables(t, rulefile.Cloudflare)
}

func testRandomTables(t *testing.T, dialect rulefile.Dialect) {
	requests := 5000
	if os.Getenv("SHORTLINK_SLOW") != "" {
		requests = 1_000_000
	}
	for seed := range uint64(requests / requestsPerTable) {
		r := randomTable{rand.New(rand.NewPCG(seed, 13)), dialect}
		lines := r.lines()
		tab, err := readTable(lines, dialect)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(lines, "\n"))
		}
		for range requestsPerTable {
			path := r.request(lines)
			if strings.Contains(path, "//") || tab.ask(path) == "" {
				continue
			}
			tab = tab.smallest(path)
			t.Fatalf("seed %d\n%s\nmakes the rules %v\n%s",
				seed, strings.Join(tab.lines, "\n"), tab.rules, tab.ask(path))
		}
	}
}

// smallest leaves out lines without which a request still differs.
func (tab table) smallest(path string) table {
	for i := 0; i < len(tab.lines); i++ {
		lines := slices.Delete(slices.Clone(tab.lines), i, i+1)
		if less, err := readTable(lines, tab.dialect); err == nil && less.ask(path) != "" {
			return less.smallest(path)
		}
	}
	return tab
}
