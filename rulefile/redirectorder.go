package rulefile

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// Of the lines of a _redirects file that match a path, the first wins; of the rules of a
// ruleset, that with the longest key.

// hashesAbove gives the hashes of the keys that a key lies below, a and a/b for a/b/c. It takes as
// long as one reading of the key, however deep that is.
func hashesAbove(key string, seed maphash.Seed) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var h maphash.Hash
		h.SetSeed(seed)
		hashed := 0
		for i := range len(key) {
			if key[i] != '/' {
				continue
			}
			h.WriteString(key[hashed:i]) //nolint:errcheck // it never fails
			hashed = i
			if !yield(h.Sum64()) {
				return
			}
		}
	}
}

// longestFirst returns rules in an order in which the first that matches has the longest key. A
// rule that takes all below its path moves behind the last one below; the others stay. With
// templates among them all are put in order.
func longestFirst(rules []resolver.Rule) []resolver.Rule {
	isTemplate := func(rule resolver.Rule) bool { return resolver.IsTemplate(rule.Key) }
	if slices.ContainsFunc(rules, isTemplate) {
		keyed := make([]*keyedRule, len(rules))
		for i, rule := range rules {
			keyed[i] = newKeyedRule(rule)
		}
		slices.SortStableFunc(keyed, func(a, b *keyedRule) int { return a.pattern.Compare(b.pattern) })
		for i := range keyed {
			rules[i] = keyed[i].rule
		}
		return rules
	}
	type placed struct{ place, own int32 } // where it goes, and where it stands
	seed := maphash.MakeSeed()
	lastBelow := lastBelow(rules, seed)
	order := make([]placed, len(rules))
	for i := range rules {
		order[i] = placed{int32(i), int32(i)}
		if rule := &rules[i]; !rule.Exact {
			order[i].place = int32(max(i, lastBelow[maphash.String(seed, rule.Key)]))
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place),
			cmp.Compare(len(rules[b.own].Key), len(rules[a.own].Key)))
	})
	permute(rules, func(i int) *int32 { return &order[i].own })
	return rules
}

// permute puts rules in order, in their place: from gives the index of the rule that goes to an
// index, and is overwritten.
func permute(rules []resolver.Rule, from func(i int) *int32) {
	for start := range rules {
		first, at := rules[start], start
		for next := int(*from(at)); next != start; next = int(*from(at)) {
			rules[at] = rules[next]
			*from(at) = int32(at)
			at = next
		}
		rules[at] = first
		*from(at) = int32(at)
	}
}

// lastBelow returns the index of the last rule below each rule that takes all below its path. It is
// found by the hash of that one's key.
func lastBelow(rules []resolver.Rule, seed maphash.Seed) map[uint64]int {
	last := make(map[uint64]int)
	for _, rule := range rules {
		if !rule.Exact {
			last[maphash.String(seed, rule.Key)] = 0
		}
	}
	for i, rule := range rules {
		for hash := range hashesAbove(rule.Key, seed) {
			if _, ok := last[hash]; ok {
				last[hash] = i
			}
		}
	}
	return last
}

// keyedRule is a rule with its key taken apart.
type keyedRule struct {
	pattern *pattern.Pattern
	rule    resolver.Rule
}

func newKeyedRule(rule resolver.Rule) *keyedRule {
	return &keyedRule{patternOf(rule), rule}
}

// patternOf takes the key of a rule apart.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}
