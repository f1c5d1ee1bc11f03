package resolver

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Ruleset is a compiled ruleset. It is immutable and safe for concurrent use.
type Ruleset struct {
	table     table
	templates *templateIndex // nil for none
	opts      options
	sources   []source
	failures  []error
	warnings  warningList
	listing   sync.Once // of the warnings
	list      []Warning
	shadowed  map[keyOfSource]Rule
	atSite    siteEnds
	rules     int
	digest    string
	reverse   *reverseIndex // nil for none
	merger    weburl.Merger
}

// Len returns the number of rules that serve; shadowed ones do not count.
func (rs *Ruleset) Len() int { return rs.rules }

// Warnings returns what the authors of the rules should know. First come those of single rules in
// the order of their sources and places, then those of chains.
func (rs *Ruleset) Warnings() []Warning {
	rs.listing.Do(func() { rs.list = rs.warnings.list() })
	return rs.list
}

// AtSite returns how many rules lead to paths of the site, and one of them. Their origin is the
// request's, as no option names one.
func (rs *Ruleset) AtSite() (rules int, first Rule) { return rs.atSite.rules, rs.atSite.first }

// siteEnds are the rules that lead to paths of the site.
type siteEnds struct {
	rules int
	first Rule
}

func (e *siteEnds) add(rule Rule) {
	if e.rules++; e.rules == 1 {
		e.first = rule
	}
}

// Size returns the bytes of memory that the ruleset's rules take.
func (rs *Ruleset) Size() int {
	return rs.table.arena.size() + slotSize*rs.table.slots.n
}

// Rules returns the rules that serve, as they were added, in no particular order.
func (rs *Ruleset) Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, s := range rs.table.entries() {
			if !yield(rs.rule(s.ref())) {
				return
			}
		}
		for _, t := range rs.templates.all() {
			if !yield(t.rule) {
				return
			}
		}
	}
}

// RulesOf returns the rules of one source, as they were added, in no particular order. Those that
// earlier sources shadow are among them. The source is the n-th that [Compiler.NextSource] began,
// or 0 for what came before.
func (rs *Ruleset) RulesOf(n int) iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, s := range rs.table.entries() {
			if rs.rankAt(s.ref()) == n && !yield(rs.rule(s.ref())) {
				return
			}
		}
		for _, t := range rs.templates.all() {
			if rs.sources[t.source].rank == n && !yield(t.rule) {
				return
			}
		}
		for key, rule := range rs.shadowed {
			if key.rank == n && !yield(rule) {
				return
			}
		}
	}
}

// rankAt returns the place in the precedence of the source that the rule of an entry is of.
func (rs *Ruleset) rankAt(at ref) int {
	var r record
	r.decode(&rs.table.arena, rs.table.arena.bytes(at))
	return rs.sources[r.position.source].rank
}

// RulesBelow returns the rules for a key and for what lies below it, or all if key is empty. They
// are sorted by their canonical keys.
func (rs *Ruleset) RulesBelow(key string) iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		above := rs.opts.canonicalKey(key)
		var found []ref
		rs.eachEntry(func(at ref) {
			if canonical := rs.table.key(at); above == "" || canonical == above ||
				strings.HasPrefix(canonical, above+"/") {
				found = append(found, at)
			}
		})
		n := 0
		slices.SortFunc(found, func(a, b ref) int {
			n++
			rs.opts.pauseAfter(n)
			return strings.Compare(rs.table.key(a), rs.table.key(b))
		})
		templates := rs.templates.below(above)
		for n, at := range found {
			rs.opts.pauseAfter(n)
			for len(templates) > 0 && templates[0].key < rs.table.key(at) {
				if !yield(templates[0].rule) {
					return
				}
				templates = templates[1:]
			}
			if !yield(rs.rule(at)) {
				return
			}
		}
		for _, t := range templates {
			if !yield(t.rule) {
				return
			}
		}
	}
}

// Numbers is what the numbers of rules are below, as [Result] has them: some more than there are
// rules.
func (rs *Ruleset) Numbers() int { return rs.table.slots.n + len(rs.templates.all()) }

// template returns the template that has a number, or nil.
func (rs *Ruleset) template(number int) *templateRule {
	if number < rs.table.slots.n {
		return nil
	}
	return rs.templates.rules[number-rs.table.slots.n]
}

// Numbered returns the rule of a number, if one has it.
func (rs *Ruleset) Numbered(number int) (rule Rule, ok bool) {
	if t := rs.template(number); t != nil {
		return t.rule, true
	}
	s := rs.table.slots.at(number)
	if !s.hasRule() {
		return Rule{}, false
	}
	return rs.rule(s.ref()), true
}

// KeyOf returns the canonical key of the rule that has a number, or "" if none has it. The key is
// in lower case where the case of letters does not matter.
func (rs *Ruleset) KeyOf(number int) string {
	if t := rs.template(number); t != nil {
		return t.key
	}
	s := rs.table.slots.at(number)
	if s == 0 {
		return ""
	}
	return rs.table.key(s.ref())
}

// NumberOf returns the number of the rule that has a key, in any spelling of it.
func (rs *Ruleset) NumberOf(key string) (number int, ok bool) {
	canonical := rs.opts.canonicalKey(key)
	if t := rs.templates.byCanonicalKey(canonical); t != nil {
		return rs.table.slots.n + t.number, true
	}
	entry, number := rs.find(canonical)
	return number, entry != 0
}

// find returns the entry of a canonical key, or 0, and its place.
func (rs *Ruleset) find(key string) (entry slot, at int) {
	if rs.table.slots.n == 0 {
		return 0, 0
	}
	hash, _ := keyHash(rs.table.seed, key)
	return rs.table.lookup(hash, key, len(key), true)
}

// Chain returns the rules that requests for a key match, in the order in which they do. A loop is
// followed up to where it begins again.
func (rs *Ruleset) Chain(key string) []Rule {
	var chain []Rule
	for _, step := range rs.walk("/" + string(weburl.AppendCanonicalPath(nil, key))) {
		chain = append(chain, step.Rule)
	}
	return chain
}

func (rs *Ruleset) rule(at ref) Rule {
	var r record
	r.decode(&rs.table.arena, rs.table.arena.bytes(at))
	return r.rule(rs.sources)
}
