package resolver

import (
	"slices"
	"testing"
)

func ruleOf(source, key, value string) Rule {
	return Rule{Key: key, Value: value, Position: Position{Source: source, Line: 1}}
}

func TestTheSourceThatIsAddedFirstWins(t *testing.T) {
	const first, second = "https://first.example/", "https://second.example/"
	for _, test := range []struct {
		name  string
		rules []Rule
		want  string // where a leads to
	}{
		{"when its rule comes first", []Rule{
			ruleOf("one", "a", first), ruleOf("two", "a", second),
		}, first},
		{"when its rule is added later", []Rule{
			ruleOf("one", "z", "/z"), ruleOf("two", "a", second), ruleOf("one", "a", first),
		}, first},
		{"with an internal redirect before an absolute one", []Rule{
			ruleOf("one", "a", "/b"), ruleOf("two", "a", second), ruleOf("two", "b", first),
		}, first},
		{"with an internal redirect that is added later", []Rule{
			ruleOf("one", "z", "/z"), ruleOf("two", "a", second), ruleOf("two", "b", first), ruleOf("one", "a", "/b"),
		}, first},
		{"with an absolute destination before an internal redirect", []Rule{
			ruleOf("one", "a", first), ruleOf("two", "a", "/b"), ruleOf("two", "b", second),
		}, first},
		{"with an absolute destination that is added later", []Rule{
			ruleOf("one", "z", "/z"), ruleOf("two", "a", "/b"), ruleOf("two", "b", second), ruleOf("one", "a", first),
		}, first},
		{"with an internal redirect before another", []Rule{
			ruleOf("one", "a", "/b"), ruleOf("one", "b", first), ruleOf("two", "a", "/a"),
		}, first},
		{"with an internal redirect that is added after another", []Rule{
			ruleOf("one", "b", first), ruleOf("two", "a", "/a"), ruleOf("one", "a", "/b"),
		}, first},
		{"of three", []Rule{
			ruleOf("one", "z", "/z"), ruleOf("two", "y", "/y"), ruleOf("three", "a", second), ruleOf("two", "a", second), ruleOf("one", "a", first),
		}, first},
		{"in another spelling of the key", []Rule{
			ruleOf("one", "z", "/z"), ruleOf("two", "%61", second), ruleOf("one", "a", first),
		}, first},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mustCompile(t, test.rules, Options{})
			if got, _ := rs.Resolve("https://go.example/a"); got != test.want {
				t.Errorf("a leads to %q, want %q", got, test.want)
			}
			shadowed := 0
			for _, w := range rs.Warnings() {
				if w.Kind == WarnShadowed {
					shadowed++
					if w.Position.Source == "one" {
						t.Errorf("the first source's rule is said to be shadowed: %v", w)
					}
				}
			}
			if rs.Len() != len(test.rules)-shadowed || shadowed == 0 {
				t.Errorf("%d rules serve and %d of %d are shadowed", rs.Len(), shadowed, len(test.rules))
			}
			if n := len(slices.Collect(rs.Rules())); n != rs.Len() {
				t.Errorf("%d rules are listed, %d serve", n, rs.Len())
			}
		})
	}
}

func TestAShadowedRuleTakesNoPartInChainsAndWarnings(t *testing.T) {
	rs := mustCompile(t, []Rule{
		ruleOf("one", "a", "https://x.example"),
		ruleOf("two", "a", "/b"),
		ruleOf("two", "b", "/a"),
	}, Options{})
	for _, w := range rs.Warnings() {
		if w.Kind != WarnShadowed {
			t.Error(w)
		}
	}
	if got, result := rs.Resolve("https://go.example/b"); got != "https://x.example/" || result.Hops != 1 {
		t.Errorf("b leads to %q %+v", got, result)
	}
}

func TestAKeyTwiceInALaterSourceIsAnErrorWhetherTheFirstHasItOrNot(t *testing.T) {
	once, twice, shadow := ruleOf("two", "a", "/x"), ruleOf("two", "%61", "/y"), ruleOf("one", "a", "/z")
	other := ruleOf("one", "b", "/z")
	for _, test := range []struct {
		name  string
		rules []Rule
	}{
		{"the first source lacks it", []Rule{other, once, twice}},
		{"the first source has it", []Rule{shadow, once, twice}},
		{"the first source's is added between them", []Rule{other, once, shadow, twice}},
		{"the first source's is added last", []Rule{other, once, twice, shadow}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile(test.rules, Options{})
			const want = `two:1: key "%61": the key is the same as "a", which stands already at two:1; remove one of the two rules`
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

func TestRulesWithoutASourceAreOfOneSource(t *testing.T) {
	if _, err := Compile([]Rule{{Key: "a", Value: "/x"}, {Key: "a", Value: "/x"}}, Options{}); err == nil {
		t.Error("no error")
	}
}
