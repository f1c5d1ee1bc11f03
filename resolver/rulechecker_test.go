package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checkedRules returns the rules that a checker takes, and what it says of the others.
func checkedRules(rules []Rule) (good []Rule, wrong RuleErrors) {
	c := NewRuleChecker()
	for _, rule := range rules {
		if errs := c.Check(rule); errs != nil {
			wrong = append(wrong, errs...)
		} else {
			good = append(good, rule)
		}
	}
	return good, wrong
}

func TestACheckerRefusesWhatACompilerDoesInItsWords(t *testing.T) {
	at := func(line int) Position { return Position{"links.csv", line, 1} }
	good := []Rule{
		{Key: "a", Value: "/b", Position: at(1)}, {Key: "b/{x}", Value: "/b/{x}", Position: at(2)},
		{Key: "%61b", Value: "pass", Position: at(3)},
	}
	for name, bad := range map[string]Rule{
		"a key":                  {Key: "/x", Value: "/b"},
		"a backslash":            {Key: `a\b`, Value: "/c"},
		"a value":                {Key: "x", Value: "who"},
		"a status":               {Key: "x", Value: "/b", Status: 200},
		"a status of a gone one": {Key: "x", Value: "gone", Status: 301},
		"key and value":          {Key: "x?", Value: "who", Status: 7},
		"a template":             {Key: "{x", Value: "/b"},
		"a template's value":     {Key: "{x}", Value: "/b/{y}"},
		"a template's status":    {Key: "{x}", Value: "/b", Status: 1},
		"a key that stands":      {Key: "a", Value: "/c"},
	} {
		bad.Position = at(9)
		taken, wrong := checkedRules(append(slices.Clone(good), bad))
		_, err := Compile(append(slices.Clone(good), bad), Options{})
		if want, _ := errors.AsType[RuleErrors](err); wrong.Error() != want.Error() ||
			len(taken) != len(good) {
			t.Errorf("%s: got %q, want %q", name, wrong, want)
		}
	}
	for _, key := range []string{"%61", "ab", "b/{y}"} {
		_, wrong := checkedRules(append(slices.Clone(good), Rule{Key: key, Value: "/c", Position: at(9)}))
		if len(wrong) != 1 || !errors.Is(wrong, ErrDuplicateKey) ||
			!strings.Contains(wrong[0].Message, "matches the same paths as that at links.csv:") {
			t.Errorf("%s: got %v", key, wrong)
		}
	}
}

func TestWhatACheckerTakesCompilesUnlessChainsMakeTooMuchOfIt(t *testing.T) {
	chain := func(n int, value func(i int) string) (rules []Rule) {
		for i := range n {
			rules = append(rules, Rule{Key: fmt.Sprintf("k%d", i), Value: value(i)})
		}
		return rules
	}
	long := strings.Repeat("x", 1000)
	for name, tt := range map[string]struct {
		rules  []Rule
		may    bool
		failed bool
	}{
		"no chain": {chain(5000, func(int) string { return "/elsewhere/" + long[:100] }), false, false},
		"short chains": {
			chain(1000, func(i int) string { return fmt.Sprintf("/k%d/x", i+1) }), false, false,
		},
		"a chain that appends much": {
			chain(100, func(i int) string { return fmt.Sprintf("/k%d/%s", i+1, long) }), true, true,
		},
		"many that end in a long one": {
			append(chain(2000, func(int) string { return "/end/x" }),
				Rule{Key: "end", Value: "/" + strings.Repeat(long, 60)}), true, true,
		},
		"many that lead to a template": {
			append(chain(2001, func(int) string { return "/t/x" }),
				Rule{Key: "t/{x}", Value: "https://x.example"}), false, false,
		},
		"very many": {
			append(chain(9000, func(int) string { return "/t/" + long[:50] }),
				Rule{Key: "t/{x}", Value: "https://x.example"}), true, false,
		},
	} {
		c := NewRuleChecker()
		for _, rule := range tt.rules {
			if err := c.Check(rule); err != nil {
				t.Fatal(name, err)
			}
		}
		_, err := Compile(tt.rules, Options{})
		if got := c.MayFailInChains(); got != tt.may || (err != nil) != tt.failed {
			t.Errorf("%s: may fail: %t, it does: %v", name, got, err)
		}
	}
}
