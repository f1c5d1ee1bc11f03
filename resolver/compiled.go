package resolver

import (
	"iter"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// compiled is the result of compiling rules. A [Compiler] fills it in, and a Ruleset serves it. A
// derivation begins with a branch of it.
type compiled struct {
	opts      options
	table     table
	templates *templateIndex // nil for none
	sources   numbered[source]
	shadowed  shadowedRules
	chains    chains
	numbers   numbering
	digest    digest
	merger    *weburl.Merger // scratch memory of all that share it
	extent
}

// branch returns a copy, for changes that b does not see.
func (b *compiled) branch() compiled {
	next := *b
	next.table, next.sources = b.table.branch(), numberedOf(b.sources.all)
	next.shadowed.isOwn = false
	return next
}

// chains is what following all chains has found.
type chains struct {
	// internal are the slots of the rules with internal redirects, in the order of compareRules.
	internal []int32
	// failures are the errors of rules without variables; templateFailures are those of templates, by
	// index.
	failures         []error
	templateFailures map[int]error
	concerns         *concerns
	atSite           siteEnds
}

// siteEnds counts the rules that lead to paths of the site.
type siteEnds struct {
	rules int
	first Rule
}

func (e *siteEnds) add(rule Rule) {
	if e.rules++; e.rules == 1 {
		e.first = rule
	}
}

// eachEntry calls do with the entries of all rules in the table, and pauses now and then.
func (c *compiled) eachEntry(do func(ref)) {
	for _, at := range c.entries() {
		do(at)
	}
}

// entries yields the numbers and the entries of all rules in the table, and pauses now and then.
func (c *compiled) entries() iter.Seq2[int, ref] {
	return func(yield func(int, ref) bool) {
		fetched := -1
		for n, s := range c.table.entries(&c.opts) {
			if page := n >> pageBits; page != fetched {
				c.table.fetch(c.table.slots.all[page])
				fetched = page
			}
			if !yield(n, s.ref()) {
				return
			}
		}
	}
}

// entryOf returns the entry of a canonical key, or 0.
func (c *compiled) entryOf(key string) ref {
	entry, _ := c.find(key)
	return entry.ref()
}

// find returns the entry of a canonical key, or 0, and its place.
func (c *compiled) find(key string) (entry slot, at int) {
	at, ok := c.table.slotOf(key)
	if !ok || !c.table.slots.at(at).hasRule() {
		return 0, at
	}
	return c.table.slots.at(at), at
}

// lastRank returns the precedence of the last source that has a rule.
func (c *compiled) lastRank() (last int) {
	for _, s := range c.sources.all {
		last = max(last, s.rank)
	}
	return last
}

// rule returns the rule of an entry with a record.
func (c *compiled) rule(at ref) Rule {
	rule, _ := c.table.ruleAt(at, c.sources.all)
	return c.opts.placed(rule)
}

// ruleOf returns the rule of a source for a key.
func (c *compiled) ruleOf(key keyOfSource) (rule Rule, ok bool) {
	if i, ok := c.templates.find(key.key); ok {
		if this := c.templates.ruleAt(i); this.rank == key.rank {
			return this.rule, true
		}
	}
	if entry, _ := c.find(key.key); entry != 0 && c.rankAt(entry.ref()) == key.rank {
		return c.rule(entry.ref()), true
	}
	rule, ok = c.shadowed.all[key]
	return rule, ok
}

// rankAt returns the precedence of the source of a record's rule.
func (c *compiled) rankAt(at ref) int {
	var r record
	r.decode(&c.table.arena, c.table.arena.bytes(at))
	return c.rankOfSource(r.position.source)
}

// rankOfSource returns the precedence of the source with a number.
func (c *compiled) rankOfSource(number int) int { return c.sources.all[number].rank }

// ruleAt returns the rule of an entry as it was added, and the precedence of its source.
func (c *compiled) ruleAt(at ref) (rule Rule, rank int) {
	if at&internalRef != 0 {
		this := c.table.internal(at)
		return this.rule, c.rankOfSource(this.source)
	}
	rule, from := c.table.ruleAt(at, c.sources.all)
	return rule, c.rankOfSource(from)
}
