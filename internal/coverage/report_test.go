package coverage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// compile compiles rules, given as key and value.
func compile(t testing.TB, fold bool, rules ...string) *resolver.Ruleset {
	t.Helper()
	var all []resolver.Rule
	for i := 0; i < len(rules); i += 2 {
		all = append(all, resolver.Rule{Key: rules[i], Value: rules[i+1]})
	}
	ruleset, err := resolver.Compile(all, resolver.Options{FoldCase: fold})
	if err != nil {
		t.Fatal(err)
	}
	return ruleset
}

// report reads a list or a log, and tells what becomes of the URLs.
func report(t testing.TB, content string, q Question) *Report {
	t.Helper()
	if q.Origin == "" {
		q.Origin = "https://h"
	}
	if q.Ruleset == nil {
		q.Ruleset = compile(t, false)
	}
	r, err := read(t, Options{}, content).Report(q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// classes lists the classes that have URLs.
func (r *Report) classes() string {
	var all []string
	for class, total := range r.Totals {
		if total.URLs > 0 {
			all = append(all, fmt.Sprintf("%s %d/%d", Class(class), total.URLs, total.Requests))
		}
	}
	return strings.Join(all, ", ")
}

// site returns the root of a site.
func site(t *testing.T) *webroot.Root {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"index.html", "docs/index.html", "docs/install.html", "plain.txt",
		"empty/x.txt", "sp ace.html", "100%.html"} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := webroot.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestRulesThenFilesThenTheLogDecide(t *testing.T) {
	root := site(t)
	ruleset := compile(t, false, "github", "https://github.com", "old", "gone", "docs", "/manual",
		"loop", "/loop", "passes", "pass", "self", "https://h/self")
	for _, tt := range []struct {
		path   string
		status int
		want   Class
	}{
		{"/github", 404, Redirect}, {"/github/x", 200, Redirect}, {"/docs", 0, Redirect},
		{"/old/x", 404, Gone}, {"/loop", 200, Error},
		{"/passes", 404, Missing}, {"/passes", 200, Page}, {"/self", 404, Missing},
		{"/a", 200, Page}, {"/a", 204, Page}, {"/a", 304, Page}, {"/a", 301, Redirect},
		{"/a", 401, Page}, {"/a", 403, Page}, {"/a", 405, Page}, {"/a", 407, Page}, {"/a", 429, Page},
		{"/a", 404, Missing}, {"/a", 400, Missing}, {"/a", 410, Gone}, {"/a", 500, Error},
		{"/a", 0, Missing}, {"/a", 499, Missing},
		{"/", 404, Page}, {"/plain.txt", 404, Page},
		{"/docs2", 0, Missing}, {"/empty", 0, Missing}, {"/empty/", 0, Missing},
		{"/sp%20ace", 500, Page}, {"/100%25", 0, Page},
		{"/..%2fother.txt", 0, Missing},
	} {
		content := access("GET", "h", tt.path, tt.status)
		r := report(t, content, Question{Ruleset: ruleset, Root: root})
		if got, want := r.classes(), tt.want.String()+" 1/1"; got != want {
			t.Errorf("%s with %d: got %s, want %s", tt.path, tt.status, got, want)
		}
	}
	content := "/docs/\n/docs\n/docs/index.html\n/docs/install\n/docs/install.html\n"
	r := report(t, content, Question{Root: root})
	if got := r.classes(); got != "page 5/5" {
		t.Errorf("files: got %s", got)
	}
}

func TestARuleThatLeadsToTheRequestAnswersOtherHosts(t *testing.T) {
	ruleset := compile(t, false, "a", "https://www.h/a")
	for host, want := range map[string]string{"www.h": "missing 1/1", "h": "redirect 1/1"} {
		r := report(t, access("GET", host, "/a", 404), Question{Ruleset: ruleset})
		if r.classes() != want {
			t.Errorf("%s: got %s", host, r.classes())
		}
	}
}

func TestWhatIsMissingIsSortedByRequests(t *testing.T) {
	r := report(t, "/b\n/c\n/c\n/a\n/d\n/d\n/d\n/%2e\n", Question{Min: 1})
	var got []string
	for missing := range r.Missing() {
		got = append(got, fmt.Sprint(missing.Path, " ", missing.Requests))
	}
	if want := []string{"/d 3", "/c 2", "/ 1", "/a 1", "/b 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r = report(t, "/b\n/c\n/c\n", Question{Min: 2})
	if got := r.classes(); got != "missing 1/2" || r.BelowMin != (Total{1, 1}) {
		t.Errorf("got %s, %+v", got, r.BelowMin)
	}
}

func TestWhatScannersAskAnySiteForIsNotMissing(t *testing.T) {
	for path, want := range map[string]Class{
		"/.env": Probe, "/.env.production": Probe, "/api/.env": Probe, "/.git/config": Probe,
		"/app/.git/HEAD": Probe, "/.aws/credentials": Probe, "/%2eenv": Probe, "/.DS_Store": Probe,
		"/wp-login.php": Probe, "/blog/wp-login.php": Probe, "//xmlrpc.php": Probe, "/wp-admin": Probe,
		"//site/wp-includes/wlwmanifest.xml": Probe, "/phpMyAdmin-5.2/index.php": Probe,
		"/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php": Probe, "/HNAP1/": Probe,
		"/cgi-bin/.%2e/.%2e/.%2e/bin/sh": Probe,

		"/wp-content/uploads/2020/01/a.jpg": Missing, "/docs/environment": Missing, "/": Missing,
		"/.well-known/security.txt": Missing, "/blog/wp-login-explained": Missing,
		"/docs/phpmyadmin": Missing, "/env": Missing, "/index.php": Missing,
	} {
		r := report(t, access("GET", "h", path, 404), Question{})
		if got := want.String() + " 1/1"; r.classes() != got {
			t.Errorf("%s: got %s, want %s", path, r.classes(), got)
		}
	}
}

func TestAProbeThatHasAnAnswerIsNoProbe(t *testing.T) {
	ruleset := compile(t, false, "wp-login.php", "https://old.h/wp-login.php", ".git", "gone")
	content := access("GET", "h", "/wp-login.php", 404) + access("GET", "h", "/.git/config", 404) +
		access("GET", "h", "/.env", 200) + access("GET", "h", "/.svn/entries", 404)
	r := report(t, content, Question{Ruleset: ruleset})
	if got, want := r.classes(), "redirect 1/1, gone 1/1, page 1/1, probe 1/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var probes []MissingURL
	for probe := range r.Probes() {
		probes = append(probes, probe)
	}
	if len(probes) != 1 || probes[0].Path != "/.svn/entries" || probes[0].Requests != 1 {
		t.Errorf("got %+v", probes)
	}
}

func TestKeysAndPagesThatWereMeantAreSuggested(t *testing.T) {
	ruleset := compile(t, false, "docs/install", "https://x", "github", "https://x",
		"team", "https://x", "teams", "https://x", "release-notes", "https://x")
	log := access("GET", "h", "/teal", 200)
	root := site(t)
	for missing, want := range map[string]string{
		"/githbu":            "[github]",                          // two letters that changed places
		"/manual/install":    "[docs/install /docs/install.html]", // the same last segment
		"/install.php":       "[docs/install /docs/install.html]", // without the extension
		"/tea":               "[team /teal]",
		"/relase-nots":       "[release-notes]",
		"/plane.txt":         "[/plain.txt]",
		"/sp_ace":            "[/sp%20ace.html]",
		"/nothing-like-that": "[]",
		"/":                  "[]",
	} {
		r := report(t, access("GET", "h", missing, 404)+log, Question{Ruleset: ruleset, Root: root})
		if got := r.Candidates(missing); fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", missing, got, want)
		}
	}
}

func TestKeysLeadFromTheMissingPaths(t *testing.T) {
	content := "/a/b\n/\n//c\n/{d}\n/ä\n/e\\f\n/g,h\n/%\n/Docs\n/docs\n/docs\n/i/\n/.env\n"
	for _, fold := range []bool{false, true} {
		var rules []resolver.Rule
		without := 0
		r := report(t, content, Question{})
		for key, missing := range Keys(r.Missing(), fold) {
			if key == "" {
				without++
				continue
			}
			rules = append(rules, resolver.Rule{Key: key, Value: "https://new/" + missing.Path})
		}
		ruleset, err := resolver.Compile(rules, resolver.Options{FoldCase: fold})
		if want := map[bool]int{false: 2, true: 3}[fold]; err != nil || without != want {
			t.Fatalf("got %d without a key, %v", without, err)
		}
		r = report(t, content, Question{Ruleset: ruleset})
		if r.Totals[Missing].URLs != 2 {
			t.Errorf("got %s", r.classes())
		}
	}
}

func TestAPathWithAndWithoutASlashIsOneKey(t *testing.T) {
	r := report(t, "/b\n/b\n/products/\n/products/\n/products\n/c/\n/d//\n", Question{})
	got := ""
	for key, missing := range Keys(r.Missing(), false) {
		got += fmt.Sprint(missing.Requests, " ", key, ", ")
	}
	if want := "3 products, 2 b, 1 c, 1 d//, "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAmongManyAlikeKeysTheOneThatWasMeantIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rules []string
	var content strings.Builder
	for i := range 20_000 {
		word := fmt.Sprintf("section-%d/page-%08x", i%10, r.Uint32())
		rules = append(rules, word, "https://x")
		if i%20 == 0 {
			fmt.Fprintf(&content, "/section-%d/pag_-%s\n", i%10, word[len(word)-8:])
		}
	}
	report := report(t, content.String(), Question{Ruleset: compile(t, false, rules...)})
	found := 0
	for missing := range report.Missing() {
		found += min(len(report.Candidates(missing.Path)), 1)
	}
	if found != 1000 {
		t.Errorf("found are %d", found)
	}
}
