package schedule

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Key is a canonical key in a source, as [resolver.RuleChange] counts sources.
type Key struct {
	Source int
	Key    string
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Source, other.Source), cmp.Compare(k.Key, other.Key))
}

// Table has the rules with windows of a ruleset, as they are written. It is immutable. Tables that
// are made of one another share the rules that are alike:
//
//	base   rules by key, and their edges by time, both sorted
//	over   the few keys that have changed since, which the base does not count for
//
// nil is a table without rules.
type Table struct {
	keys  []Key
	rules []resolver.Rule // of keys
	edges []edge
	over  map[Key]*resolver.Rule // nil for a rule that is removed
	n     int
	sum   [sha256.Size]byte // of all rules, in any order
}

// edge is a time at which a rule of the base changes.
type edge struct {
	at   Time
	rule int32 // its index
}

// mostOver is how many changes a table has in front of its base: each change copies them.
const mostOver = 1000

// New returns a table of rules with windows.
func New(rules map[Key]resolver.Rule) *Table {
	if len(rules) == 0 {
		return nil
	}
	t := &Table{keys: slices.SortedFunc(maps.Keys(rules), Key.compare), n: len(rules)}
	t.rules = make([]resolver.Rule, len(t.keys))
	for i, key := range t.keys {
		t.rules[i] = rules[key]
		edgesOf(t.rules[i], func(at Time) { t.edges = append(t.edges, edge{at, int32(i)}) })
		t.add(key, t.rules[i])
	}
	slices.SortFunc(t.edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return t
}

// add adds a rule to the sum, or takes it out.
func (t *Table) add(key Key, rule resolver.Rule) {
	digest := sha256.Sum256(fmt.Appendf(nil, "%d %q %s", key.Source, rule.Key, rule.Windows))
	for i := range t.sum {
		t.sum[i] ^= digest[i]
	}
}

// With returns a table with changes made: a rule that is set for a key, or nil to remove its rule.
func (t *Table) With(changes map[Key]*resolver.Rule) *Table {
	if len(changes) == 0 {
		return t
	}
	next := new(Table)
	if t != nil {
		*next = *t
	}
	next.over = maps.Clone(next.over)
	if next.over == nil {
		next.over = map[Key]*resolver.Rule{}
	}
	for key, rule := range changes {
		if old, is := t.Rule(key); is {
			next.add(key, old)
			next.n--
		}
		if next.over[key] = rule; rule != nil {
			next.add(key, *rule)
			next.n++
		}
	}
	switch {
	case next.n == 0:
		return nil
	case len(next.over) > mostOver:
		return New(maps.Collect(next.All()))
	}
	return next
}

// Len returns the number of rules.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Rule returns the rule of a key.
func (t *Table) Rule(key Key) (rule resolver.Rule, ok bool) {
	if t == nil {
		return rule, false
	}
	if changed, is := t.over[key]; is {
		if changed == nil {
			return rule, false
		}
		return *changed, true
	}
	i, ok := slices.BinarySearchFunc(t.keys, key, Key.compare)
	if ok {
		rule = t.rules[i]
	}
	return rule, ok
}

// All returns all rules, in no particular order.
func (t *Table) All() iter.Seq2[Key, resolver.Rule] {
	return func(yield func(Key, resolver.Rule) bool) {
		if t == nil {
			return
		}
		for i, key := range t.keys {
			if !t.isOver(int32(i)) && !yield(key, t.rules[i]) {
				return
			}
		}
		for key, rule := range t.over {
			if rule != nil && !yield(key, *rule) {
				return
			}
		}
	}
}

// isOver reports whether a rule of the base has changed.
func (t *Table) isOver(rule int32) bool {
	_, is := t.over[t.keys[rule]]
	return is
}

// Span returns the time around an instant in which no rule changes: from the last edge until the
// next one.
func (t *Table) Span(at Time) (from, until Time) {
	from, until = Begin, End
	if t == nil {
		return from, until
	}
	next := t.after(at)
	for i := next; i < len(t.edges); i++ {
		if !t.isOver(t.edges[i].rule) {
			until = t.edges[i].at
			break
		}
	}
	for i := next - 1; i >= 0; i-- {
		if !t.isOver(t.edges[i].rule) {
			from = t.edges[i].at
			break
		}
	}
	t.overEdges(func(_ Key, edge Time) {
		if edge <= at {
			from = max(from, edge)
		} else {
			until = min(until, edge)
		}
	})
	return from, until
}

// after returns the index of the first edge of the base after an instant.
func (t *Table) after(at Time) int {
	i, _ := slices.BinarySearchFunc(t.edges, at, func(e edge, at Time) int {
		if e.at > at {
			return 1
		}
		return -1
	})
	return i
}

// overEdges calls do with the edges of the rules that have changed.
func (t *Table) overEdges(do func(key Key, at Time)) {
	for key, rule := range t.over {
		if rule != nil {
			edgesOf(*rule, func(at Time) { do(key, at) })
		}
	}
}

// Between returns the keys that have an edge between two instants, of which the later one counts,
// sorted.
func (t *Table) Between(a, b Time) (keys []Key) {
	if t == nil {
		return nil
	}
	from, to := min(a, b), max(a, b)
	for _, e := range t.edges[t.after(from):t.after(to)] {
		if !t.isOver(e.rule) {
			keys = append(keys, t.keys[e.rule])
		}
	}
	t.overEdges(func(key Key, at Time) {
		if from < at && at <= to {
			keys = append(keys, key)
		}
	})
	slices.SortFunc(keys, Key.compare)
	return slices.Compact(keys)
}

// Digest returns the digest of rules of which others have a digest of their own.
func (t *Table) Digest(others string) string {
	if t == nil {
		return others
	}
	whole := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%x", others, t.n, t.sum))
	return hex.EncodeToString(whole[:])
}
