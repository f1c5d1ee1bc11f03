package schedule

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/btree"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// place is a canonical key in a source, as [resolver.RuleChange] counts sources.
type place struct {
	key    string
	source int
}

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.key, other.key), cmp.Compare(p.source, other.source))
}

// written is a rule with windows.
type written struct {
	place
	rule *resolver.Rule // which nobody changes
}

// edge is a time at which a rule changes.
type edge struct {
	at Time
	place
}

// table has the rules with windows of a ruleset, as they are written, and their edges. Tables that
// are made of one another share what is alike. nil is a table without rules.
type table struct {
	rules     *btree.BTreeG[written]
	edges     *btree.BTreeG[edge]
	templates int // how many of the rules have variables
	sources   int // more than any of the rules' sources
	// changed are the places in which the table differs from the one it was made of, and madeOf is
	// that one's self: so none holds another in memory.
	changed      []place
	self, madeOf *byte
}

// degree is how wide the nodes of the trees are.
const degree = 32

func newTable() *table {
	return &table{
		rules: btree.NewG(degree, func(a, b written) bool { return a.compare(b.place) < 0 }),
		edges: btree.NewG(degree, func(a, b edge) bool {
			return cmp.Or(cmp.Compare(a.at, b.at), a.compare(b.place)) < 0
		}),
		self: new(byte),
	}
}

// with returns a table with changes made: a rule that is set, or nil to remove the one of a place.
func (t *table) with(changes map[place]*resolver.Rule) *table {
	switch {
	case len(changes) == 0:
		return t
	case t == nil:
		t = newTable()
	default:
		t = &table{
			rules: t.rules.Clone(), edges: t.edges.Clone(), templates: t.templates, sources: t.sources,
			changed: slices.Collect(maps.Keys(changes)), self: new(byte), madeOf: t.self,
		}
	}
	for at, rule := range changes {
		if old, is := t.rules.Delete(written{place: at}); is {
			t.count(at.key, -1)
			edgesOf(Split(*old.rule), func(when Time) { t.edges.Delete(edge{when, at}) })
		}
		if rule != nil {
			t.add(at, rule, Split(*rule))
		}
	}
	if t.rules.Len() == 0 {
		return nil
	}
	return t
}

// add adds the rule of a place that has none, with its windows. Nobody else may have the table.
func (t *table) add(at place, rule *resolver.Rule, windows []Window) {
	if at.key == rule.Key {
		at.key = rule.Key // one text in memory is enough
	}
	t.count(at.key, 1)
	t.sources = max(t.sources, at.source+1)
	t.rules.ReplaceOrInsert(written{at, rule})
	edgesOf(windows, func(when Time) { t.edges.ReplaceOrInsert(edge{when, at}) })
}

func (t *table) count(key string, n int) {
	if resolver.IsTemplate(key) {
		t.templates += n
	}
}

// get returns the rule of a place.
func (t *table) get(at place) (rule resolver.Rule, ok bool) {
	if t == nil {
		return rule, false
	}
	found, ok := t.rules.Get(written{place: at})
	if ok {
		rule = *found.rule
	}
	return rule, ok
}

func (t *table) len() int {
	if t == nil {
		return 0
	}
	return t.rules.Len()
}

// from passes the rules from a key on, in the order of their keys and sources, while do says so.
func (t *table) from(key string, do func(written) bool) {
	if t != nil {
		t.rules.AscendGreaterOrEqual(written{place: place{key: key}}, do)
	}
}

// below passes the rules for a key and for what lies below it, or all for no key, like from.
func (t *table) below(above string, do func(written) bool) {
	if above == "" {
		t.from(above, do)
		return
	}
	goesOn := true
	t.from(above, func(w written) bool {
		goesOn = w.key != above || do(w)
		return goesOn && w.key == above
	})
	if goesOn { // between the two are keys such as above-1
		t.from(above+"/", func(w written) bool { return strings.HasPrefix(w.key, above+"/") && do(w) })
	}
}

// span returns the time around an instant in which no rule changes: from the last edge until the
// next one.
func (t *table) span(at Time) (from, until Time) {
	from, until = Begin, End
	if t == nil {
		return from, until
	}
	behind := edge{at: at + 1}
	t.edges.DescendLessOrEqual(behind, func(e edge) bool { from = e.at; return false })
	t.edges.AscendGreaterOrEqual(behind, func(e edge) bool { until = e.at; return false })
	return from, until
}

// between returns the places that have an edge in (a, b], or in (b, a] if b is the earlier one.
func (t *table) between(a, b Time) (places []place) {
	if t != nil {
		t.edges.AscendRange(edge{at: min(a, b) + 1}, edge{at: max(a, b) + 1}, func(e edge) bool {
			places = append(places, e.place)
			return true
		})
	}
	return places
}
