package rulefile_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// table is a _redirects file, its rules, and the service that it was made for.
type table struct {
	lines   []string
	dialect rulefile.Dialect
	rules   []resolver.Rule
	ruleset *resolver.Ruleset
	service service
	// leftOut are the lines without an equivalent, with the reason, by their numbers. The service
	// does not get them either.
	leftOut map[int]string
}

// readTable reads lines as the source of a site does that leaves out what has no equivalent.
func readTable(lines []string, dialect rulefile.Dialect) (table, error) {
	reading := rulefile.Reading{
		Dialect: dialect, SkipUnsupported: true, Hosts: []string{siteHost},
	}
	rules, warnings, err := readRules(reading, lines)
	if err != nil {
		return table{}, err
	}
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		return table{}, fmt.Errorf("rules %v: %w", rules, err)
	}
	tab := table{
		lines: lines, dialect: dialect, rules: rules, ruleset: ruleset, leftOut: make(map[int]string),
	}
	for _, warning := range warnings {
		if warning.Kind == rulefile.WarnLeftOut {
			tab.leftOut[warning.Position.Line] = warning.Message
		}
	}
	tab.service = rootless{newService(dialect, tab.kept())}
	return tab, nil
}

func readRules(
	reading rulefile.Reading, lines []string,
) (rules []resolver.Rule, warnings []lint.Warning, err error) {
	text := strings.NewReader(strings.Join(lines, "\n"))
	warnings, err = reading.Read(text, rulefile.Redirects, "_redirects", func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	return rules, warnings, err
}

// kept returns the lines that are not left out.
func (tab table) kept() []string {
	var kept []string
	for i, line := range tab.lines {
		if _, isLeftOut := tab.leftOut[i+1]; !isLeftOut {
			kept = append(kept, line)
		}
	}
	return kept
}

func newService(dialect rulefile.Dialect, lines []string) service {
	if dialect == rulefile.Cloudflare {
		return newCloudflareLines(lines)
	}
	return newNetlifyLines(lines)
}

// ask returns what is wrong with where a request gets, or "".
func (tab table) ask(request string) string {
	want, got := follow(tab.service, request), follow(rulesetService{tab.ruleset}, request)
	if want.isSame(got) || want.isCircle(got) || want.isSameButForQuery(got) ||
		tab.leadsToItself(want, got) {
		return ""
	}
	return fmt.Sprintf("%s gets to %+v, not to %+v", request, got, want)
}

// leadsToItself is the difference that lines which lead to paths that they take themselves end
// there at the service, in ways of its own, and here mostly after the first redirect. It reports
// whether a client got to such a line.
func (tab table) leadsToItself(ends ...end) bool {
	for _, line := range tab.kept() {
		from, to, _ := strings.Cut(line, " ")
		to, _, _ = strings.Cut(to, " ")
		if !takes(tab.dialect, from, samplesOf(to)...) {
			continue
		}
		for _, e := range ends {
			if takes(tab.dialect, from, e.been...) {
				return true
			}
		}
	}
	return false
}

// takes reports whether a path of a line takes one of some paths.
func takes(dialect rulefile.Dialect, from string, paths ...string) bool {
	alone := newService(dialect, []string{from + " https://to.example 302"})
	return slices.ContainsFunc(paths, func(path string) bool {
		return alone.answer(request{host: siteHost, path: path}).kind == isRedirect
	})
}

// samplesOf returns paths that a destination of the site stands for.
func samplesOf(to string) (paths []string) {
	to = strings.TrimPrefix(to, "https://"+siteHost)
	to = to[:strings.IndexAny(to+"?", "?#")]
	if !strings.HasPrefix(to, "/") {
		return nil
	}
	for _, values := range [][2]string{{"x", "a"}, {"", "b"}, {"x/y", "c"}, {"a/b/c", "en"},
		{"b1/c2", "y"}, {"b", "z"}, {"ab/ab", "ab"}, {"c", "x"}} {
		path := strings.ReplaceAll(to, ":splat", values[0])
		path = placeholders.ReplaceAllString(path, "/"+values[1])
		paths = append(paths, withSingleSlashes(path))
	}
	return paths
}

var placeholders = regexp.MustCompile(`/:[^/]+`)

// requestsOf returns requests for what a line is for, and for what is beside and below it.
func requestsOf(line string) []string {
	from, _, _ := strings.Cut(line, " ")
	if _, after, ok := strings.Cut(from, "://"); ok {
		from = after[strings.Index(after+"/", "/"):]
	}
	from = placeholders.ReplaceAllString(from, "/en")
	var requests []string
	for _, splat := range []string{"", "x", "x/y/"} {
		requests = append(requests, strings.ReplaceAll(from, "*", splat))
	}
	at := strings.TrimSuffix(requests[0], "/")
	requests = append(requests, at, at+"/", at+"/b1", at+"/b1/c2", at+"/b1/c2/", at+"beside",
		path.Dir(at)+"/beside", at+"?q=1&r=a%20b", at+"/b1?q=1")
	return slices.DeleteFunc(requests, func(request string) bool {
		return !strings.HasPrefix(request, "/") || strings.Contains(request, "//")
	})
}

func TestTablesOfRealSitesLeadWhereTheyLed(t *testing.T) {
	tests := map[string]struct {
		dialect         rulefile.Dialect
		lines, requests int
	}{
		"babel":      {rulefile.Netlify, 127, 1000},
		"cfdocs2022": {rulefile.Cloudflare, 870, 1000},
		"helm":       {rulefile.Netlify, 59, 300},
		"k8s2021":    {rulefile.Netlify, 496, 1000},
		"kubeflow":   {rulefile.Netlify, 369, 1000},
		"nodejs":     {rulefile.Netlify, 66, 300},
		"vue":        {rulefile.Netlify, 55, 300},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lines := linesOf(t, name)
			tab, err := readTable(lines, test.dialect)
			if err != nil {
				t.Fatal(err)
			}
			requests := make(map[string]bool)
			for _, line := range lines {
				for _, request := range requestsOf(line) {
					requests[request] = true
				}
			}
			if len(lines) != test.lines || len(requests) < test.requests {
				t.Errorf("%d lines, %d requests", len(lines), len(requests))
			}
			for _, request := range slices.Sorted(maps.Keys(requests)) {
				if difference := tab.ask(request); difference != "" {
					t.Error(difference)
				}
			}
		})
	}
}

func linesOf(t *testing.T, table string) []string {
	data, err := os.ReadFile("testdata/redirects/" + table + "._redirects")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestTablesOfRealSitesAreReadButForThese(t *testing.T) {
	type counts = map[lint.Kind]int
	tests := map[string]struct {
		dialect rulefile.Dialect
		// errors are how many lines have no equivalent, by a part of the reason. Each is a warning where
		// such lines are left out.
		errors   map[string]int
		warnings counts
	}{
		"babel": {
			errors:   map[string]int{"a rule has no host": 2},
			warnings: counts{rulefile.WarnApproximated: 4, rulefile.WarnNeverReached: 1},
		},
		"cfdocs2022": {
			dialect:  rulefile.Cloudflare,
			warnings: counts{rulefile.WarnNeverReached: 5},
		},
		"helm": {
			errors:   map[string]int{"a rule has no host": 2},
			warnings: counts{rulefile.WarnApproximated: 4, rulefile.WarnNeverReached: 2},
		},
		"k8s2021":  {warnings: counts{rulefile.WarnNeverReached: 4}},
		"kubeflow": {warnings: counts{rulefile.WarnNeverReached: 1}},
		"nodejs":   {warnings: counts{rulefile.WarnNeverReached: 2}},
		"vue": {
			warnings: counts{rulefile.WarnApproximated: 2, rulefile.WarnNeverReached: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reading := rulefile.Reading{Dialect: test.dialect}
			_, warnings, err := readRules(reading, linesOf(t, name))
			warned := make(counts)
			for _, warning := range warnings {
				warned[warning.Kind]++
			}
			if !maps.Equal(warned, test.warnings) {
				t.Errorf("warnings %v, want %v", warned, test.warnings)
			}
			var refused rulefile.Errors
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			if reasons := countReasons(refused, test.errors); !maps.Equal(reasons, test.errors) {
				t.Errorf("errors %v, want %v", reasons, test.errors)
			}
			reading.SkipUnsupported = true
			_, warnings, err = readRules(reading, linesOf(t, name))
			isOther := func(w lint.Warning) bool { return w.Kind != rulefile.WarnLeftOut }
			leftOut := slices.DeleteFunc(warnings, isOther)
			if err != nil || len(leftOut) != len(refused) {
				t.Errorf("left out are %v of %v, error %v", leftOut, refused, err)
			}
		})
	}
}

// countReasons counts errors by the reason of the wanted ones that they hold, or else by their
// message.
func countReasons(refused rulefile.Errors, wanted map[string]int) map[string]int {
	counts := make(map[string]int)
	for _, e := range refused {
		reason := e.Message
		for want := range wanted {
			if strings.Contains(e.Message, want) {
				reason = want
			}
		}
		counts[reason]++
	}
	return counts
}

func TestAPlaceholderMayBeCalledAsAStarIsWritten(t *testing.T) {
	rules, _, err := readLines(rulefile.Reading{}, "/a/:* /b/:*\n/c/:splat/d /e/:splat\n")
	want := []resolver.Rule{
		{Key: "a/{_}", Value: "/b/{+_}", Status: 301, Exact: true},
		{Key: "c/{splat}/d", Value: "/e/{+splat}", Status: 301, Exact: true},
	}
	if err != nil || !slices.Equal(withoutPositions(rules), want) {
		t.Errorf("%v, %v", rules, err)
	}
}

func TestALineIsRulesWhereALineInFrontTakesSomeOfThePathsThatItLeadsTo(t *testing.T) {
	tab, err := readTable([]string{
		"/b/*/c https://to.example/c/c/p:splat#f 404", "/c/b/c /b/z/c", "/b* /b/z/z?q=1 301!",
	}, rulefile.Netlify)
	if err != nil || len(tab.leftOut) > 0 {
		t.Fatalf("%v, left out: %v", err, tab.leftOut)
	}
	for _, request := range []string{"/b", "/bx", "/b/x", "/b/x/c", "/b/z/z", "/c/b/c"} {
		if difference := tab.ask(request); difference != "" {
			t.Error(difference)
		}
	}
}

func TestALineOfCloudflareThatLeadsEveryPathToTheRootIsARule(t *testing.T) {
	rules, warnings, err := readRules(rulefile.Reading{Dialect: rulefile.Cloudflare},
		[]string{"/a / 301", "/* / 302"})
	if err != nil || len(rules) < 2 || inShort(rules[1]) != "{+splat} / 302 exact" ||
		len(warnings) != 1 {
		t.Errorf("%v, %v, %v", rules, warnings, err)
	}
}
