package rulefile

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Of the lines of a _redirects file that match a path, the first wins; of the rules of a
// ruleset, that with the longest key.

// hashesAbove gives the keys that a key lies below, a and a/b for a/b/c: how long each is, and its
// hash. It takes as long as one reading of the key, however deep that is.
func hashesAbove(key string, seed maphash.Seed) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		var h maphash.Hash
		h.SetSeed(seed)
		hashed := 0
		for i := range len(key) {
			if key[i] != '/' {
				continue
			}
			h.WriteString(key[hashed:i]) //nolint:errcheck // it never fails
			hashed = i
			if !yield(i, h.Sum64()) {
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
		keyed := make([]*keyedRule, len(rules))
		for i, rule := range rules {
			keyed[i] = newKeyedRule(rule)
		}
		slices.SortStableFunc(keyed, func(a, b *keyedRule) int { return a.pattern.Compare(&b.pattern) })
		for i := range keyed {
			rules[i] = keyed[i].rule
		}
		return rules
	}
	type placed struct {
		place int
		rule  resolver.Rule
	}
	seed := maphash.MakeSeed()
	lastBelow := lastBelow(rules, seed)
	order := make([]placed, len(rules))
	for i, rule := range rules {
		order[i] = placed{i, rule}
		if !rule.Exact {
			order[i].place = max(i, lastBelow[maphash.String(seed, rule.Key)])
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

// lastBelow returns, for the hash of each key of a rule that takes all below its path, the index of
// the last rule below.
func lastBelow(rules []resolver.Rule, seed maphash.Seed) map[uint64]int {
	last := make(map[uint64]int)
	for _, rule := range rules {
		if !rule.Exact {
			last[maphash.String(seed, rule.Key)] = 0
		}
	}
	for i, rule := range rules {
		for _, hash := range hashesAbove(rule.Key, seed) {
			if _, ok := last[hash]; ok {
				last[hash] = i
			}
		}
	}
	return last
}
