package resolver

import (
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
