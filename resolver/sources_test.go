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
			shadowed := slices.Collect(rs.Shadowed())
			if len(shadowed) != 1 || shadowed[0].Source == 0 ||
				rs.KeyOf(shadowed[0].By) != CanonicalKey(shadowed[0].Rule.Key, false) {
				t.Errorf("shadowed are %v", shadowed)
			}
			n, want := len(slices.Collect(rs.Rules())), len(slices.Concat(test.sources...))-1
			if n != want || rs.Len() != want {
				t.Errorf("%d rules are listed and %d serve, want %d", n, rs.Len(), want)
			}
		})
	}
}

func TestAShadowedRuleTakesNoPartInChains(t *testing.T) {
	rs, err := compileSources([]Rule{{Key: "a", Value: "https://x.example"}},
		[]Rule{{Key: "a", Value: "/b"}, {Key: "b", Value: "/a"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, result := resolve(rs, "https://go.example/b"); got != "https://x.example/" ||
		result.Hops != 1 {
		t.Errorf("b leads to %q %+v", got, result)
	}
}

func TestAKeyTwiceInALaterSourceIsAnErrorInAnyCase(t *testing.T) {
	later := []Rule{{Key: "a", Value: "/x", Position: Position{Line: 1}},
		{Key: "%61", Value: "/y", Position: Position{Line: 2}}}
	for name, first := range map[string]string{"the first source lacks it": "b",
		"the first source has it": "a"} {
		t.Run(name, func(t *testing.T) {
			_, err := compileSources([]Rule{{Key: first, Value: "/z"}}, later)
			const want = `two:2: key "%61": the key is the same as "a", which is already defined at two:1; remove one of the two rules`
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
