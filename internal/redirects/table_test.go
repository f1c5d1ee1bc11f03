package redirects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// pathOf returns the segments of a path in which a name in braces is a variable, "{*}" what is left
// at the end of a path, and several segments in its middle.
func pathOf(path string) []redirects.Segment {
	segments := redirects.Text(path)
	for i := range segments {
		s := &segments[i]
		before, rest, isVariable := strings.Cut(s.Before, "{")
		if !isVariable {
			continue
		}
		name, after, _ := strings.Cut(rest, "}")
		*s = redirects.Segment{Before: before, Variable: name, After: after}
		if name != "*" {
			continue
		}
		s.Variable, s.Spans = redirects.Splat, redirects.Several
		if i == len(segments)-1 {
			s.Spans = redirects.Rest
		}
	}
	return segments
}

// made is what a table makes of lines, each a path and a destination.
type made struct {
	rules   []resolver.Rule
	reports []redirects.Report
}

func rulesOf(lines ...string) (m made) {
	t := redirects.NewTable(redirects.Options{Report: func(r redirects.Report) {
		m.reports = append(m.reports, r)
	}})
	for i, line := range lines {
		from, to, _ := strings.Cut(line, " ")
		to, hasRest := strings.CutSuffix(to, "{*}")
		made := redirects.Line{At: resolver.Position{Source: "t", Line: i + 1, Column: 1},
			Path: pathOf(from), To: redirects.Literal(to), Status: 301}
		if hasRest {
			made.To = redirects.WithRest(to)
		}
		t.Add(made)
	}
	t.Rules(func(rule resolver.Rule) { m.rules = append(m.rules, rule) })
	return m
}

// keys returns the keys of the rules, in their order.
func (m made) keys() (keys []string) {
	for _, rule := range m.rules {
		keys = append(keys, rule.Key)
	}
	slices.Sort(keys)
	return keys
}

func TestWhatLinesHaveInCommonIsOneRuleMore(t *testing.T) {
	m := rulesOf("/about/{*} https://a.example/{*}", "/{lang}/learn https://b.example/")
	want := []string{"about", "about/learn", "{_lang}/learn"}
	if got := m.keys(); !slices.Equal(got, want) || len(m.reports) > 0 {
		t.Errorf("%q, %v", got, m.reports)
	}
}

func TestAnOverlapThatNoRuleIsForIsToldOfWithItsPathAndRule(t *testing.T) {
	const want = "the line at t:1:1 matches /docs/a/old first, but a rule of this line would win there" +
		"; write a rule for each such path instead of this line, beginning with one from /docs/a/old " +
		"to https://a.example/, or put this line before that one; the line is left out"
	m := rulesOf("/{*}/old https://a.example/", "/docs/a/{*} https://b.example/{*}", "/docs/old /z")
	if len(m.reports) != 2 || m.reports[0].Kind != redirects.NeverReached ||
		!strings.HasPrefix(m.reports[1].Message, want) {
		t.Errorf("%+v", m.reports)
	}
	if got := m.keys(); !slices.Equal(got, []string{"{+_splat}/old"}) {
		t.Errorf("%q", got)
	}
}

func TestPlainPathsAreRulesUnlessALineInFrontTakesThem(t *testing.T) {
	m := rulesOf("/{*}/old https://a.example/", "/a https://b.example/", "/a/old https://c.example/",
		"/{x}/b https://d.example/", "/c/b https://e.example/")
	if got := m.keys(); !slices.Equal(got, []string{"a", "{+_splat}/old", "{_x}/b"}) ||
		len(m.reports) != 2 {
		t.Errorf("%q, %v", got, m.reports)
	}
}

func TestALineBehindARefusedOneHasItsPaths(t *testing.T) {
	m := rulesOf("/{*}/old https://a.example/", "/docs/a/{*} https://b.example/{*}", "/docs/a /z")
	if got := m.keys(); !slices.Equal(got, []string{"docs/a", "{+_splat}/old"}) {
		t.Errorf("%q, %v", got, m.reports)
	}
}

func TestWhatIsDearIsRefusedAndNotWhatStandsBehindIt(t *testing.T) {
	const n = 2000
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("/j%d/{*} https://a.example/{*}", i))
	}
	lines = append(lines, "/{x}/k https://b.example/", "/k https://c.example/",
		"/l/{*} https://d.example/{*}", "/l/m https://e.example/")
	m := rulesOf(lines...)
	if len(m.rules) != n+2 || len(m.reports) != 2 {
		t.Fatalf("%d rules, %+v", len(m.rules), m.reports)
	}
	refused := m.reports[1]
	if refused.At.Line != n+1 || refused.Kind != redirects.LeftOut ||
		!strings.Contains(refused.Message, "/k, and there are so many") {
		t.Errorf("%+v", refused)
	}
}

func TestATableHasTenThousandLinesWithWildcardsAtMost(t *testing.T) {
	var lines []string
	for i := range redirects.MaxWildcards + 2 {
		lines = append(lines, fmt.Sprintf("/j%d/{*} https://a.example/{*}", i), fmt.Sprintf("/p%d /q", i))
	}
	m := rulesOf(lines[:2*redirects.MaxWildcards]...)
	if len(m.rules) != 2*redirects.MaxWildcards || m.reports != nil {
		t.Fatalf("%d rules, %d reports", len(m.rules), len(m.reports))
	}
	m = rulesOf(lines...)
	if len(m.reports) != 1 || m.reports[0].Kind != redirects.Wrong ||
		m.reports[0].At.Line != 2*redirects.MaxWildcards+1 {
		t.Errorf("%+v", m.reports)
	}
}

func TestLinesThatComeLaterAreCountedWithTheOthers(t *testing.T) {
	table := redirects.NewTable(redirects.Options{Report: func(redirects.Report) {}})
	refused, rules := 0, 0
	for i := range redirects.MaxWildcards + 2 {
		table.Add(redirects.Line{At: resolver.Position{Source: "t", Line: i + 1}, IsLater: true,
			Path: pathOf(fmt.Sprintf("/j%d/{*}", i)), To: redirects.WithRest("https://a.example/")})
		if table.IsGivenUp(resolver.Position{}) {
			refused++
		}
	}
	table.Rules(func(resolver.Rule) { rules++ })
	if rules != redirects.MaxWildcards || refused != 2 || table.Entries() != rules+1 {
		t.Errorf("%d rules, %d refused, %d entries", rules, refused, table.Entries())
	}
}

// Each of these took half a minute and more, or its lines were refused.
func TestTablesOfTenThousandLinesAreReadSoon(t *testing.T) {
	for _, shape := range []struct {
		lines       []string
		atLeast     int // rules
		mayBeLeftIn bool
	}{
		{[]string{"/k#/{*} /k%/x/{*}"}, 10_000, false},
		{[]string{"/x#.{*} /y/{*}"}, 10_000, false},
		{[]string{"/k#/{*} /z/{*}", "/{a}/k# /y", "/k# /w", "/{a}/{b}/k# /v"}, 5_000, true},
	} {
		var lines []string
		for i := range 10_000 {
			line := shape.lines[i%len(shape.lines)]
			line = strings.ReplaceAll(line, "#", fmt.Sprint(i))
			lines = append(lines, strings.ReplaceAll(line, "%", fmt.Sprint(i+1)))
		}
		m := rulesOf(lines...)
		if len(m.rules) < shape.atLeast || !shape.mayBeLeftIn && m.reports != nil {
			t.Errorf("%s: %d rules, %d reports", shape.lines[0], len(m.rules), len(m.reports))
		}
	}
}

// linesOfForms returns lines of n segments each. The bits of a line's number say which segments are
// variables, and text gives the others.
func linesOfForms(lines, n int, text func(line int) string) (table []string) {
	for i := range lines {
		var path strings.Builder
		for bit := range n {
			if i>>bit&1 == 0 {
				path.WriteString("/" + text(i))
			} else {
				fmt.Fprintf(&path, "/{p%d}", bit)
			}
		}
		table = append(table, path.String()+fmt.Sprintf("/{*} https://a.example/%d/{*}", i))
	}
	return table
}

func TestLinesOfManyFormsThatTakeNoPathTwiceAreAllRules(t *testing.T) {
	lines := linesOfForms(5_000, 8, func(line int) string { return fmt.Sprintf("t%d", line) })
	for i := range lines {
		lines[i] = fmt.Sprintf("/k%d", i) + lines[i]
	}
	if m := rulesOf(lines...); len(m.rules) < len(lines) || m.reports != nil {
		t.Errorf("%d rules, %d reports", len(m.rules), len(m.reports))
	}
}

// Each line takes some paths of all in front. Comparing them all took hours.
func TestATableInWhichAllLinesOverlapIsReadToItsEnd(t *testing.T) {
	lines := linesOfForms(2_000, 14, func(int) string { return "s" })
	lines = append(lines, "/s/plain /q")
	m := rulesOf(lines...)
	if keys := m.keys(); !slices.Contains(keys, "s/plain") || len(m.reports) < 1_000 {
		t.Fatalf("%d rules, %d reports", len(m.rules), len(m.reports))
	}
	for _, report := range m.reports {
		if report.Kind != redirects.LeftOut || report.At.Line == 0 {
			t.Fatalf("%+v", report)
		}
	}
}
