package resolver

import (
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Ruleset is a compiled ruleset. It is immutable and safe for concurrent use.
type Ruleset struct{ compiled }

// Len returns the number of rules that serve; shadowed ones do not count.
func (rs *Ruleset) Len() int { return rs.table.rules + rs.templates.len() }

// AtSite returns how many rules lead to paths of the site, and one of them. The origin of such a
// destination is that of the request, if no option sets one.
func (rs *Ruleset) AtSite() (rules int, first Rule) {
	return rs.chains.atSite.rules, rs.chains.atSite.first
}

// Size returns the bytes of memory that the ruleset's rules take.
func (rs *Ruleset) Size() int {
	return rs.table.arena.size() + slotSize*rs.table.slots.n + rs.templates.size()
}

// Rules yields the rules that serve, as they were added, in no particular order.
func (rs *Ruleset) Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, s := range rs.table.entries(&rs.opts) {
			if !yield(rs.rule(s.ref())) {
				return
			}
		}
		rs.Templates()(yield)
	}
}

// Templates yields the serving rules with variables. They are sorted by source, and then by place
// or, with [Options.NoLines], by key.
func (rs *Ruleset) Templates() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, t := range rs.templates.each() {
			if !yield(t.rule) {
				return
			}
		}
	}
}

// RulesOf yields the rules of one source, as they were added, in no particular order. Rules that
// earlier sources shadow are included. The source is the n-th that [Compiler.NextSource] began, or
// 0 for what came before.
func (rs *Ruleset) RulesOf(n int) iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, s := range rs.table.entries(&rs.opts) {
			if rs.rankAt(s.ref()) == n && !yield(rs.rule(s.ref())) {
				return
			}
		}
		for _, t := range rs.templates.each() {
			if t.rank == n && !yield(t.rule) {
				return
			}
		}
		for key, rule := range rs.shadowed.all {
			if key.rank == n && !yield(rule) {
				return
			}
		}
	}
}

// RulesBelow yields the rules for a key and for all paths below it, or all rules if key is empty.
// They are sorted by their canonical keys.
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
			for len(templates) > 0 && templates[0].Key() < rs.table.key(at) {
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

// Numbers is an exclusive upper bound of the numbers of rules (see [Result]). There are more
// numbers than rules.
func (rs *Ruleset) Numbers() int { return rs.table.slots.n + rs.numbers.room }

// template returns the index of the template with a number.
func (c *compiled) template(number int) (i int, ok bool) {
	if number -= c.table.slots.n; number < 0 || number >= len(c.numbers.templates) {
		return 0, false
	}
	return int(c.numbers.templates[number]), c.numbers.templates[number] >= 0
}

// Numbered returns the rule with a number, if there is one.
func (rs *Ruleset) Numbered(number int) (rule Rule, ok bool) {
	if i, ok := rs.template(number); ok {
		return rs.templates.ruleAt(i).rule, true
	}
	if number >= rs.table.slots.n {
		return Rule{}, false
	}
	s := rs.table.slots.at(number)
	if !s.hasRule() {
		return Rule{}, false
	}
	return rs.rule(s.ref()), true
}

// KeyOf returns the canonical key of the rule with a number, or "" if there is none. The number of
// a removed rule stays that of its key. The key is in lower case if the case of letters does not
// matter.
func (rs *Ruleset) KeyOf(number int) string {
	if n := number - rs.table.slots.n; n >= len(rs.numbers.keys) {
		return ""
	} else if n >= 0 {
		return rs.numbers.keys[n]
	}
	s := rs.table.slots.at(number)
	if s == 0 {
		return ""
	}
	return rs.table.key(s.ref())
}

// NumberOf returns the number of the rule for a key, in any spelling. The rule may have been
// removed.
func (rs *Ruleset) NumberOf(key string) (number int, ok bool) {
	canonical := rs.opts.canonicalKey(key)
	if IsTemplate(canonical) {
		if i, ok := rs.templates.find(canonical); ok {
			return rs.table.slots.n + int(rs.templates.entries[i].number), true
		}
		number = slices.Index(rs.numbers.keys, canonical)
		return rs.table.slots.n + number, number >= 0
	}
	return rs.table.slotOf(canonical)
}

// SharesNumbers reports whether each key has the same number in both rulesets, because one is
// derived from the other. Both have as many numbers then.
func (rs *Ruleset) SharesNumbers(other *Ruleset) bool {
	return rs.numbers.lineage == other.numbers.lineage
}

// Differing yields the numbers whose rule is another one in a ruleset that shares numbers, in no
// particular order. The cost depends on the changes in between. It may also yield rules that only
// lead elsewhere, or whose position has changed.
func (rs *Ruleset) Differing(other *Ruleset) iter.Seq[int] {
	return func(yield func(int) bool) {
		for number := range rs.table.slots.differing(&other.table.slots) {
			if !yield(number) {
				return
			}
		}
		if rs.templates == other.templates {
			return
		}
		slots := rs.table.slots.n
		for n := range max(len(rs.numbers.templates), len(other.numbers.templates)) {
			if !rs.hasSameTemplate(&other.compiled, slots+n) && !yield(slots+n) {
				return
			}
		}
	}
}

// hasSameTemplate reports whether a number has the same template in another ruleset, or none in
// both.
func (c *compiled) hasSameTemplate(other *compiled, number int) bool {
	i, here := c.template(number)
	j, there := other.template(number)
	return here == there && (!here || c.templates.ruleAt(i) == other.templates.ruleAt(j))
}

// Chain returns the rules that requests for a key match, in this order. A loop is followed up to
// where it begins again.
func (rs *Ruleset) Chain(key string) []Rule {
	var chain []Rule
	for _, step := range rs.walk("/" + string(weburl.AppendCanonicalPath(nil, key))) {
		chain = append(chain, step.Rule)
	}
	return chain
}
