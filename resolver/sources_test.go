package resolver

import (
	"slices"
	"strings"
	"testing"
)

// compileSources compiles the rules of sources in their order of precedence.
func compileSources(sources ...[]Rule) (*Ruleset, error) {
	c, err := NewCompiler(Options{})
	if err != nil {
		return nil, err
	}
	for i, rules := range sources {
		if i > 0 {
			c.NextSource()
		}
		for _, rule := range rules {
			if rule.Position.Source == "" {
				rule.Position.Source = []string{"one", "two", "three"}[i]
			}
			c.Add(rule)
		}
	}
	return c.Compile()
}

func TestOfTwoSourcesTheFirstOnesRuleServes(t *testing.T) {
	const first, second = "https://first.example/", "https://second.example/"
	for _, test := range []struct {
		name    string
		sources [][]Rule
	}{
		{"of absolute destinations", [][]Rule{
			{{Key: "a", Value: first}}, {{Key: "a", Value: second}},
		}},
		{"with an internal redirect before an absolute destination", [][]Rule{
			{{Key: "a", Value: "/b"}}, {{Key: "a", Value: second}, {Key: "b", Value: first}},
		}},
		{"with an absolute destination before an internal redirect", [][]Rule{
			{{Key: "a", Value: first}}, {{Key: "a", Value: "/b"}, {Key: "b", Value: second}},
		}},
		{"with an internal redirect before another", [][]Rule{
			{{Key: "a", Value: "/b"}, {Key: "b", Value: first}}, {{Key: "a", Value: "/a"}},
		}},
		{"of three", [][]Rule{
			{{Key: "z", Value: "/y"}}, {{Key: "a", Value: first}}, {{Key: "a", Value: second}},
		}},
		{"in another spelling of the key", [][]Rule{
			{{Key: "a", Value: first}}, {{Key: "%61", Value: second}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs, err := compileSources(test.sources...)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := resolve(rs, "https://go.example/a"); got != first {
				t.Errorf("a leads to %q, want %q", got, first)
			}
			warnings := rs.Warnings()
			if len(warnings) != 1 || warnings[0].Kind != WarnShadowed ||
				warnings[0].Position.Source == "one" {
				t.Errorf("warnings %v", warnings)
			}
			n, want := len(slices.Collect(rs.Rules())), len(slices.Concat(test.sources...))-1
			if n != want || rs.Len() != want {
				t.Errorf("%d rules are listed and %d serve, want %d", n, rs.Len(), want)
			}
		})
	}
}

func TestAShadowedRuleTakesNoPartInChainsAndWarnings(t *testing.T) {
	rs, err := compileSources([]Rule{{Key: "a", Value: "https://x.example"}},
		[]Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range rs.Warnings() {
		if w.Kind != WarnShadowed {
			t.Error(w)
		}
	}
	if got, result := resolve(rs, "https://go.example/b"); got != "https://x.example/" ||
		result.Hops != 1 {
		t.Errorf("b leads to %q %+v", got, result)
	}
}

func TestARuleThatBelongsToNoSourceIsCalledInline(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string
		want          string
	}{
		"a key":      {"a", "a", "as an inline rule has the key, too"},
		"a template": {"a/{x}", "a/{y}", "as an inline rule has the key, too"},
		"ambiguous":  {"a{x}/b", "{x}a/b", `matches the key "a{x}/b" of an inline rule, too`},
	} {
		t.Run(name, func(t *testing.T) {
			inline := Rule{Key: tt.first, Value: "/z", Position: Position{Source: "shortlink"}}
			rs, err := compileSources([]Rule{inline}, []Rule{{Key: tt.second, Value: "/z"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range rs.Warnings() {
				if strings.Contains(w.Message, tt.want) {
					return
				}
			}
			t.Errorf("no warning has %q: %v", tt.want, rs.Warnings())
		})
	}
}

func TestAKeyTwiceInALaterSourceIsAnErrorInAnyCase(t *testing.T) {
	later := []Rule{{Key: "a", Value: "/x", Position: Position{Line: 1}},
		{Key: "%61", Value: "/y", Position: Position{Line: 2}}}
	for name, first := range map[string]string{"the first source lacks it": "b",
		"the first source has it": "a"} {
		t.Run(name, func(t *testing.T) {
			_, err := compileSources([]Rule{{Key: first, Value: "/z"}}, later)
			const want = `two:2: key "%61": the key is the same as "a", which stands already at two:1; remove one of the two rules`
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

func TestRulesOfSeveralFilesAreOfOneSource(t *testing.T) {
	one, other := Position{Source: "one.caddyfile"}, Position{Source: "other.caddyfile"}
	if _, err := Compile([]Rule{{Key: "a", Value: "/x", Position: one},
		{Key: "a", Value: "/x", Position: other}}, Options{}); err == nil {
		t.Error("no error")
	}
}

func TestTheRulesOfASourceAreListedAlsoWhereAnotherShadowsThem(t *testing.T) {
	rule := func(key, value string) Rule {
		return Rule{Key: key, Value: value, Position: Position{Source: "same", Line: 1}}
	}
	sources := [][]Rule{
		{rule("a", "/b"), rule("t/{x}", "https://one.example/{x}")},
		{rule("a", "https://two.example/"), rule("b", "https://two.example/"),
			rule("t/{y}", "/b/{y}")},
		{rule("%61", "/b"), rule("t/{x}/{y}", "/a"), rule("c", "https://three.example/")},
	}
	rs, err := compileSources(sources...)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range sources {
		got := slices.Collect(rs.RulesOf(n))
		byKey := func(a, b Rule) int { return strings.Compare(a.Key, b.Key) }
		slices.SortFunc(got, byKey)
		slices.SortFunc(want, byKey)
		if !slices.Equal(got, want) {
			t.Errorf("source %d has %v\nwant %v", n, got, want)
		}
	}
}

func TestWhatAReaderWarnsOfStandsInItsPlaceAmongItsSource(t *testing.T) {
	c, err := NewCompiler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	lineOf := func(source string, line int) Position { return Position{source, line, 1} }
	for _, source := range []string{"one", "two"} {
		c.NextSource()
		for _, line := range []int{3, 1} { // a reader may have an order of its own
			key := source + strings.Repeat("x", line) + "/"
			c.Add(Rule{Key: key, Value: "https://x.example", Position: lineOf(source, line)})
		}
		c.Warn(Warning{Position: lineOf(source, 2), Message: "left out"},
			Warning{Position: lineOf(source, 4), Message: "left out"})
	}
	rs, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, w := range rs.Warnings() {
		places = append(places, w.Position.String())
	}
	want := "one:1:1 one:2:1 one:3:1 one:4:1 two:1:1 two:2:1 two:3:1 two:4:1"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := rs.Warnings()[1].String(); got != "one:2:1: left out" {
		t.Errorf("got %s", got)
	}
}
