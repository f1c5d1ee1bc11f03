package resolver

import (
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Ruleset is a compiled ruleset. It is immutable and safe for concurrent use.
type Ruleset struct {
	table     table
	templates *templateIndex // nil for none
	opts      options
	sources   []source
	failures  []error
	// templateFailures are by the index of the templates.
	templateFailures []error
	shadowed         map[keyOfSource]Rule
	atSite           siteEnds
	rules            int
	digest           string
	sum              rulesSum // that the digest is of

	// What deriving another ruleset needs; see [Compiler] for the first ones.
	extent
	// internal are the slots of the rules with internal redirects, in the order of compareRules.
	internal []int32
	concerns *concerns
	// taken is how many slots are not empty, gone how many bytes of records nothing refers to.
	taken, gone int
	// templateKeys are the keys of templates by number. There may be as many as templateRoom.
	templateKeys []string
	templateRoom int
	byNumber     []*templateRule
	lineage      *lineage
	merger       weburl.Merger
}

// Len returns the number of rules that serve; shadowed ones do not count.
func (rs *Ruleset) Len() int { return rs.rules }

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
		for _, s := range rs.table.entries(&rs.opts) {
			if !yield(rs.rule(s.ref())) {
				return
			}
		}
		rs.Templates()(yield)
	}
}

// Templates returns the rules with variables that serve, in the order of their sources, and there
// of their places or, with [Options.NoLines], of their keys.
func (rs *Ruleset) Templates() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
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
		for _, s := range rs.table.entries(&rs.opts) {
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

// Numbers is what the numbers of rules are below, as [Result] has them: some more than there are
// rules.
func (rs *Ruleset) Numbers() int { return rs.table.slots.n + rs.templateRoom }

// template returns the template that has a number, or nil.
func (rs *Ruleset) template(number int) *templateRule {
	if number -= rs.table.slots.n; number < 0 || number >= len(rs.byNumber) {
		return nil
	}
	return rs.byNumber[number]
}

// templateRoom is how many templates more than it has a ruleset can have before others are derived
// with other numbers.
const templateRoom = 16

// numberTemplates gives the templates the numbers that their keys have had before, and those that
// are new the next ones.
func (rs *Ruleset) numberTemplates(before *Ruleset) {
	if before != nil {
		rs.templateKeys, rs.templateRoom = slices.Clip(before.templateKeys), before.templateRoom
		if rs.byNumber = before.byNumber; rs.templates == before.templates {
			return
		}
	}
	numbers := numberedOf(rs.templateKeys)
	for _, t := range rs.templates.all() {
		t.number = numbers.number(t.Key())
	}
	rs.templateKeys = numbers.all
	if len(rs.templateKeys) > rs.templateRoom {
		rs.templateKeys, rs.templateRoom = nil, 2*len(rs.templateKeys)
		rs.lineage = new(lineage)
		rs.numberTemplates(nil)
		return
	}
	rs.byNumber = make([]*templateRule, len(rs.templateKeys))
	for _, t := range rs.templates.all() {
		rs.byNumber[t.number] = t
	}
}

// Numbered returns the rule of a number, if one has it.
func (rs *Ruleset) Numbered(number int) (rule Rule, ok bool) {
	if t := rs.template(number); t != nil {
		return t.rule, true
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

// KeyOf returns the canonical key of the rule that has a number, or "" if none has it. It also does
// where the rule has been removed since: the number stays that of the key. The key is in lower case
// where the case of letters does not matter.
func (rs *Ruleset) KeyOf(number int) string {
	if n := number - rs.table.slots.n; n >= len(rs.templateKeys) {
		return ""
	} else if n >= 0 {
		return rs.templateKeys[n]
	}
	s := rs.table.slots.at(number)
	if s == 0 {
		return ""
	}
	return rs.table.key(s.ref())
}

// NumberOf returns the number of the rule that has a key, in any spelling of it, or that has had it
// and was removed.
func (rs *Ruleset) NumberOf(key string) (number int, ok bool) {
	canonical := rs.opts.canonicalKey(key)
	if IsTemplate(canonical) {
		number = slices.Index(rs.templateKeys, canonical)
		return rs.table.slots.n + number, number >= 0
	}
	return rs.table.place(canonical)
}

// find returns the entry of a canonical key, or 0, and its place.
func (rs *Ruleset) find(key string) (entry slot, at int) {
	at, ok := rs.table.place(key)
	if !ok || !rs.table.slots.at(at).hasRule() {
		return 0, at
	}
	return rs.table.slots.at(at), at
}

// lastRank returns the place in the precedence of the last source that a rule is of.
func (rs *Ruleset) lastRank() (last int) {
	for _, s := range rs.sources {
		last = max(last, s.rank)
	}
	return last
}

// lineage is that of rulesets in which rules keep their numbers: all are derived from one.
type lineage struct{ _ byte }

// SharesNumbers reports whether a key has the same number in both rulesets, as in those that are
// derived from one another. Both have as many numbers then.
func (rs *Ruleset) SharesNumbers(other *Ruleset) bool { return rs.lineage == other.lineage }

// Differing gives the numbers that have another rule in a ruleset which shares them. They come in
// no particular order, at the cost of what was derived in between. Rules that only lead elsewhere,
// or stand elsewhere, may be among them.
func (rs *Ruleset) Differing(other *Ruleset) iter.Seq[int] {
	return func(yield func(int) bool) {
		for p, page := range rs.table.slots.all {
			old := other.table.slots.all[p]
			if page == old {
				continue
			}
			for i, s := range page {
				if s != old[i] && !yield(p*pageLength+i) {
					return
				}
			}
		}
		if rs.templates == other.templates {
			return
		}
		slots := rs.table.slots.n
		for n := range max(len(rs.byNumber), len(other.byNumber)) {
			if rs.template(slots+n) != other.template(slots+n) && !yield(slots+n) {
				return
			}
		}
	}
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

// rule returns the rule of an entry.
func (rs *Ruleset) rule(at ref) Rule {
	rule, _ := rs.table.ruleAt(at, rs.sources)
	return rs.opts.placed(rule)
}
