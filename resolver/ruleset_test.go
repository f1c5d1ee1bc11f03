package resolver

import (
	"fmt"
	"slices"
	"testing"
)

func TestEveryRuleHasANumberOfItsOwn(t *testing.T) {
	rules := benchRules(500)
	rs := mustCompile(t, rules, Options{})
	seen := map[int]bool{}
	for _, rule := range rules {
		n, ok := rs.NumberOf(rule.Key)
		if got, found := rs.Numbered(n); !ok || !found || got != rule || n < 0 ||
			n >= rs.Numbers() || seen[n] {
			t.Fatalf("%s has the number %d, which is that of %+v", rule.Key, n, got)
		}
		seen[n] = true
		if _, result := resolve(rs, "https://go.example/"+rule.Key); result.Rule != n {
			t.Fatalf("%s has the number %d, and the result says %d", rule.Key, n, result.Rule)
		}
	}
	if _, ok := rs.NumberOf("nothing"); ok {
		t.Error("a key that is not there has a number")
	}
}

func TestRulesAreListedByKeyAndBelowOne(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "docs/b", Value: "/x"}, {Key: "docs", Value: "/x"}, {Key: "docsy",
			Value: "/x"}, {Key: "d%6Fcs/a/c", Value: "/x"}, {Key: "a", Value: "/x"},
	}, Options{})
	for key, want := range map[string][]string{
		"":       {"a", "docs", "d%6Fcs/a/c", "docs/b", "docsy"},
		"docs":   {"docs", "d%6Fcs/a/c", "docs/b"},
		"docs/a": {"d%6Fcs/a/c"},
		"doc":    nil,
	} {
		var got []string
		for rule := range rs.RulesBelow(key) {
			got = append(got, rule.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("below %q there are %q, want %q", key, got, want)
		}
	}
}

func TestTheChainOfAKeyIsTheRulesThatItsRequestsMeet(t *testing.T) {
	rs := mustCompile(t, []Rule{
		{Key: "a", Value: "/b/x"}, {Key: "b", Value: "https://example.com"}, {Key: "l",
			Value: "/m"}, {Key: "m", Value: "/l"},
	}, Options{})
	for key, want := range map[string][]string{"a": {"a", "b"}, "b": {"b"}, "nothing": nil,
		"l": {"l", "m", "l"}} {
		var got []string
		for _, rule := range rs.Chain(key) {
			got = append(got, rule.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the chain of %s is %q, want %q", key, got, want)
		}
	}
}

func TestWhatDiffersBetweenDerivedRulesetsIsTold(t *testing.T) {
	var rules []Rule
	for i := range 3 * pageLength {
		rules = append(rules, Rule{Key: fmt.Sprint("k", i), Value: "https://x.example/"})
	}
	rules = append(rules, Rule{Key: "t/{x}", Value: "https://x.example/{x}"})
	before := mustCompile(t, rules, Options{NoLines: true})
	set := func(key, value string) RuleChange {
		return RuleChange{Key: key, Rule: &Rule{Key: key, Value: value}}
	}
	after, _, err := before.With([]RuleChange{
		set("k1", "gone"), {Key: "k2"}, set("new", "gone"), {Key: "t/{x}"}, set("u/{x}", "gone"),
	})
	if err != nil || !after.SharesNumbers(before) {
		t.Fatal(err)
	}
	for _, pair := range [][2]*Ruleset{{before, after}, {after, before}, {after, after}} {
		var want []int
		for n := range before.Numbers() {
			was, _ := pair[0].Numbered(n)
			is, _ := pair[1].Numbered(n)
			if was != is {
				want = append(want, n)
			}
		}
		got := slices.Sorted(pair[1].Differing(pair[0]))
		if !slices.Equal(got, want) || pair[0] != pair[1] && len(got) != 5 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
