package rulefile

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Of the lines of a _redirects file that match a path, the first wins; of the rules of a
// ruleset, that with the longest key.

// keysAbove gives the keys that a key lies below: a/b and a for a/b/c.
func keysAbove(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			slash := strings.LastIndexByte(key, '/')
			if slash < 0 {
				return
			}
			key = key[:slash]
			if !yield(key) {
				return
			}
		}
	}
}

// longestFirst returns rules in an order in which the first that matches has the longest
// key: each stays where it is, unless it takes all below its path and something
// below comes later, behind the last of which it moves. With templates among them all are put in order.
func longestFirst(rules []resolver.Rule) []resolver.Rule {
	if slices.ContainsFunc(rules, func(rule resolver.Rule) bool { return resolver.IsTemplate(rule.Key) }) {
		keyed := make([]keyedRule, len(rules))
		for i, rule := range rules {
			keyed[i] = newKeyedRule(rule)
		}
		slices.SortStableFunc(keyed, func(a, b keyedRule) int { return a.key.compare(b.key) })
		for i := range keyed {
			rules[i] = keyed[i].rule
		}
		return rules
	}
	type placed struct {
		place int
		rule  resolver.Rule
	}
	lastBelow := lastBelow(rules)
	order := make([]placed, len(rules))
	for i, rule := range rules {
		order[i] = placed{i, rule}
		if !rule.Exact {
			order[i].place = max(i, lastBelow[rule.Key])
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(len(b.rule.Key), len(a.rule.Key)))
	})
	for i := range order {
		rules[i] = order[i].rule
	}
	return rules
}

// lastBelow returns, for each key of a rule that takes all below its path, the index of the last rule below.
func lastBelow(rules []resolver.Rule) map[string]int {
	last := make(map[string]int)
	for _, rule := range rules {
		if !rule.Exact {
			last[rule.Key] = 0
		}
	}
	for i, rule := range rules {
		for key := range keysAbove(rule.Key) {
			if _, ok := last[key]; ok {
				last[key] = i
			}
		}
	}
	return last
}
