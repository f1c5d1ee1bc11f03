package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// siteOf writes empty files, and returns their directory.
func siteOf(t *testing.T, files ...string) string {
	t.Helper()
	dir, site := t.TempDir(), fstest.MapFS{}
	for _, file := range files {
		site[file] = new(fstest.MapFile)
	}
	if err := os.CopyFS(dir, site); err != nil {
		t.Fatal(err)
	}
	return dir
}

// foundIn returns what check finds of rules and of the files of a site, as "kind: key: message".
func foundIn(t *testing.T, dir, rules string, flags ...string) (found []string) {
	t.Helper()
	args := []string{"shortlink", "check", "--rules", "-", "--root", dir, "--format", "json"}
	output, status := testcaddy.Run(append(args, flags...), rules)
	var report struct {
		Handlers []struct {
			Findings []struct{ Kind, Key, Message string }
		}
	}
	if err := json.Unmarshal([]byte(output), &report); err != nil || len(report.Handlers) != 1 {
		t.Fatalf("%v, status %d\n%s", err, status, output)
	}
	for _, f := range report.Handlers[0].Findings {
		what, _, _ := strings.Cut(strings.ReplaceAll(f.Message, " in "+dir, ""), ";")
		what = strings.TrimPrefix(what, "the rule takes the requests for the ")
		what = strings.TrimPrefix(what, "the rule takes the requests for ")
		what, _, _ = strings.Cut(what, ", and there is")
		found = append(found, f.Kind+": "+f.Key+": "+what)
	}
	return found
}

func TestCheckFindsRulesThatHideFiles(t *testing.T) {
	const to, hides = `"https://a.example"`, "hides a page: "
	dir := siteOf(t, "index.html", "about.html", "docs/index.html", "docs/a.html", "docs/b/c.pdf",
		"Case.html", "50%.txt", "grün.html", "x/y", "a(b).html")
	for rules, want := range map[string][]string{
		`{"docs": ` + to +
			`}`: {hides + "docs: 3 files, the first being docs/a.html,"},
		`{"docs": {"to": ` + to + `, "exact": true}}`: {hides + "docs: file docs/index.html"},
		`{"docs": ` + to +
			`, "docs/b": "pass"}`: {hides + "docs: 2 files, the first being docs/a.html,"},
		`{"docs/b": "gone"}`:                                  {hides + "docs/b: file docs/b/c.pdf"},
		`{"docs/b": {"to": ` + to + `, "exact": true}}`:       nil,
		`{"about": ` + to + `}`:                               {hides + "about: file about.html"},
		`{"about.html": ` + to + `}`:                          {hides + "about.html: file about.html"},
		`{"about": "/about.html"}`:                            nil,
		`{"about": "/about.html?from=here#there"}`:            nil,
		`{"docs": {"to": "/docs/index.html", "exact": true}}`: nil,
		`{"case": ` + to + `}`:                                nil,
		`{"50%25.txt": ` + to + `}`:                           {hides + "50%25.txt: file 50%.txt"},
		`{"gr%C3%BCn": ` + to + `}`:                           {hides + "gr%C3%BCn: file grün.html"},
		`{"%78/y": ` + to + `}`:                               {hides + "%78/y: file x/y"},
		`{"a(b)": ` + to + `}`:                                {hides + "a(b): file a(b).html"},
		`{"nothing": ` + to + `}`:                             nil,
		`{"x/{a}": "https://a.example/{a}"}`: {
			"rules with variables: : 1 rule with variables is not compared with the files of " + dir},
		`{"loop": {"to": "/loop", "exact": true}, "x": "/loop"}`: {hides + "x: file x/y"},
	} {
		found := slices.DeleteFunc(foundIn(t, dir, rules), func(f string) bool {
			return !strings.HasPrefix(f, hides) && !strings.HasPrefix(f, "rules with variables")
		})
		if !slices.Equal(found, want) {
			t.Errorf("of %s it finds %q, not %q", rules, found, want)
		}
	}
}

func TestARuleToItsOwnFileHidesItOnNoHost(t *testing.T) {
	dir := siteOf(t, "about.html")
	hosts := []string{"--host", "go.example", "--host", "b.example"}
	for destination, hides := range map[string]bool{
		"https://go.example/about.html": false, "https://b.example/about.html#us": false,
		"http://go.example/about.html": false, "https://c.example/about.html": true,
		"https://b.example/about.html/": true,
	} {
		found := slices.ContainsFunc(foundIn(t, dir, fmt.Sprintf(`{"about": %q}`, destination), hosts...),
			func(f string) bool { return strings.HasPrefix(f, "hides a page") })
		if found != hides {
			t.Errorf("a rule to %s hides the page: %t, not %t", destination, found, hides)
		}
	}
}

func TestCheckFindsDestinationsThatAreMissing(t *testing.T) {
	const missing = "destination is missing: a: no rule answers "
	dir := siteOf(t, "about.html", "docs/index.html", "docs/b/c.pdf", "index.html", "b%25.html")
	for value, want := range map[string]string{
		"/about": "", "/about.html": "", "/about?q=1#top": "", "/docs": "", "/docs/": "", "/": "",
		"/about/": "/about/",
		"/other":  "/other", "/other?q#f": "/other", "/docs/b": "", "/docs/b/d": "/docs/b/d",
		"/b%2525": "", "/b%25": "/b%25", "/key": "", "/key/below": "", "/kept/x": "",
		"/left/x": "", "/About": "/About", "/%00": "/%00", "/docs%2Fb%2Fc.pdf": "",
		"/" + strings.Repeat("x", 5000):   "/" + strings.Repeat("x", 5000),
		"https://go.example/other":        "/other",
		"https://go.example/%6Fther#x":    "/%6Fther",
		"https://go.example:8443/other":   "",
		"https://go.example/about":        "",
		"https://go.example/key":          "",
		"https://www.example.com/other":   "",
		"https://go.example/../../about":  "",
		"https://go.example/..%2Fother":   "/..%2Fother",
		"https://go.example/%2e%2e/other": "/other",
	} {
		rules, _ := json.Marshal(map[string]any{"a": value,
			"key": "https://a.example", "kept": "https://a.example", "kept/x": "pass", "left": "gone"})
		found := slices.DeleteFunc(foundIn(t, dir, string(rules), "--host", "go.example"),
			func(f string) bool { return !strings.HasPrefix(f, "destination is missing") })
		if want != "" {
			want = missing + want
		}
		if got := strings.Join(found, "\n"); got != want {
			t.Errorf("of %.100q it finds %.200q, not %.200q", value, got, want)
		}
	}
	exact := `{"a": {"to": "/docs/b", "exact": true}}`
	if found := foundIn(t, dir, exact); !slices.Equal(found, []string{missing + "/docs/b"}) {
		t.Errorf("of a directory without an index it finds %q", found)
	}
}

func TestCheckComparesManyRulesWithManyFiles(t *testing.T) {
	dir := t.TempDir()
	var rules strings.Builder
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.html", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&rules, "p%d,/q%d\n", i, i)
	}
	found := foundIn(t, dir, rules.String(), "--rules-format", "csv")
	if len(found) != 4000 {
		t.Errorf("it finds %d things of 2000 rules that hide a page and lead to none", len(found))
	}
}
