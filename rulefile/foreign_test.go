package rulefile_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// marked returns lines in which {rest} and other words in braces are captured.
func marked(lines ...foreignLine) []foreignLine {
	lines = slices.Clone(lines)
	mark := strings.NewReplacer("{rest}", capturedRest, "{x}", captured("x"),
		"{y}", captured("y"))
	for i := range lines {
		l := &lines[i]
		l.Path, l.To, l.Itself = mark.Replace(l.Path), mark.Replace(l.To), mark.Replace(l.Itself)
	}
	return lines
}

// rulesOfLines returns the rules of lines in short, and the warnings.
func rulesOfLines(
	t *testing.T, slashesCount bool, lines ...foreignLine,
) (rules, warnings []string) {
	t.Helper()
	warned, err := readForeignLines(rulefile.Reading{}, marked(lines...), slashesCount,
		func(rule resolver.Rule) { rules = append(rules, inShort(rule)) })
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warned {
		warnings = append(warnings, string(w.Kind)+": "+w.Message)
	}
	return rules, warnings
}

// inShort returns a rule as a line of words.
func inShort(rule resolver.Rule) string {
	words := []string{rule.Key, rule.Value}
	if rule.Status != 0 {
		words = append(words, strconv.Itoa(rule.Status))
	}
	if rule.Exact {
		words = append(words, "exact")
	}
	if mode := rule.Query.String(); mode != "" {
		words = append(words, mode)
	}
	return strings.Join(words, " ")
}

func TestLinesOfOtherProgramsBecomeRules(t *testing.T) {
	type line = foreignLine
	for name, test := range map[string]struct {
		lines []line
		want  []string
	}{
		"a path": {
			[]line{{Path: "/a", To: "/b", Status: 301}}, []string{"a /b 301 exact"},
		},
		"a path that is gone": {
			[]line{{Path: "/a", IsGone: true}}, []string{"a gone exact"},
		},
		"all below a path that is gone": {
			[]line{{Path: "/a/{rest}", IsGone: true}}, []string{"a gone"},
		},
		"a path with what is below it": {
			[]line{{Path: "/a/{rest}", To: "https://b.example/{rest}"}},
			[]string{"a https://b.example/"},
		},
		"a path that leads to a name, with what is below it": {
			[]line{{Path: "/a/{rest}", To: "https://b.example/c/{rest}", Itself: "https://b.example/c"}},
			[]string{"a https://b.example/c"},
		},
		"a path that leads elsewhere than what is below it": {
			[]line{{Path: "/a/{rest}", To: "https://b.example/c/{rest}", Itself: "https://d.example"}},
			[]string{"a https://d.example exact", "a/{+splat} https://b.example/c/{+splat}"},
		},
		"segments in another order": {
			[]line{{Path: "/{x}/to/{y}.html", To: "https://b.example/{y}/{x}/{y}"}},
			[]string{"{x}/to/{y}.html https://b.example/{+y}/{+x}/{+y} exact"},
		},
		"a segment that is left out": {
			[]line{{Path: "/a/{x}", To: "/b"}}, []string{"a/{_x} /b exact"},
		},
		"a segment in a query": {
			[]line{{Path: "/a/{x}", To: "https://b.example/?c={x}"}},
			[]string{"a/{x} https://b.example/?c={x} exact ignore"},
		},
		"a colon and a star": {
			[]line{{Path: "/a:b/*", To: "/c:d/:x"}}, []string{"a:b/* /c:d/:x exact"},
		},
		"braces": {
			[]line{{Path: "/a{b}", To: "/c"}}, []string{"a%7Bb%7D /c exact"},
		},
		"an encoded question mark": {
			[]line{{Path: "/a%3Fb", To: "/c"}}, []string{"a%3Fb /c exact"},
		},
	} {
		if got, warnings := rulesOfLines(t, false, test.lines...); !slices.Equal(got, test.want) ||
			len(warnings) > 0 {
			t.Errorf("%s: %q, %q", name, got, warnings)
		}
	}
}

func TestAPathWithAndWithoutASlashIsOneRuleOrRefused(t *testing.T) {
	for _, tt := range []struct {
		second, want string
		rules        int
	}{
		{"/b", "whole table: apart tells a path from that with a slash at its end, but rules match both",
			1},
		{"/c", "line left out: a rule matches a path with and without a slash at its end, but the " +
			"line at table:1:1 has this one already, and leads elsewhere; use Caddy's redir for one of " +
			"the two; the line is left out", 1},
	} {
		rules, warnings := rulesOfLines(t, true, foreignLine{Path: "/a", To: "/b"},
			foreignLine{Path: "/a/", To: tt.second})
		if len(rules) != tt.rules || !slices.Contains(warnings, tt.want) {
			t.Errorf("%q, %q", rules, warnings)
		}
	}
}

func TestALinesOwnStatusAndQueryWinAgainstThoseOfTheTable(t *testing.T) {
	var rules []string
	reading := rulefile.Reading{Status: 308, Query: resolver.QueryPreserve}
	_, err := readForeignLines(reading, []foreignLine{
		{Path: "/a", To: "/b"}, {Path: "/c", To: "/d", Status: 303, Query: resolver.QueryIgnore},
		{Path: "/e", To: "https://f.example/?g"}, {Path: "/h", IsGone: true},
	}, false, func(rule resolver.Rule) { rules = append(rules, inShort(rule)) })
	want := []string{"a /b 308 exact preserve", "c /d 303 exact ignore",
		"e https://f.example/?g 308 exact ignore", "h gone exact"}
	if err != nil || !slices.Equal(rules, want) {
		t.Errorf("%q, %v", rules, err)
	}
}

func TestAChainThatASlashEndsElsewhereIsToldOf(t *testing.T) {
	lines := []foreignLine{{Path: "/a", To: "/b/"}, {Path: "/b", To: "https://c.example"}}
	const want = "approximated line: the line at table:2:1 matches the destination here, because a " +
		"slash at the end of a path makes no difference; elsewhere clients stay at /b/"
	if _, warnings := rulesOfLines(t, true, lines...); !slices.Contains(warnings, want) {
		t.Errorf("%q", warnings)
	}
	if _, warnings := rulesOfLines(t, false, lines...); warnings != nil {
		t.Errorf("%q", warnings)
	}
}
