package resolver

import (
	"iter"
	"slices"
)

// internalRule is a rule with an internal redirect while rules are compiled.
type internalRule struct {
	rule   Rule
	key    string // canonical
	value  internalValue
	source int
	slot   int32 // its place in the table, or shadowed
	old    ref   // its record in the ruleset that this one is derived from, 0 for none
	// remaining is what remains of the value's path after the key that it matches.
	remaining string
	state     endState  // that of the end
	end       *chainEnd // nil where no key matches the value, so that it is [newChain]'s
}

// internalRules are the rules with internal redirects while rules are compiled, and the indexes of
// those that serve, in the order of [options.compareRules]. So the results of chains do not depend
// on the order in which rules were added.
type internalRules struct {
	all   pieces[internalRule]
	order []int32
}

// add adds a rule, and returns its ref for the table.
func (r *internalRules) add(rule internalRule) ref {
	r.all.add(rule)
	return internalRef | ref(r.all.n-1)
}

// inOrder yields the rules that serve, with their indexes.
func (r *internalRules) inOrder() iter.Seq2[int, *internalRule] {
	return func(yield func(int, *internalRule) bool) {
		for _, i := range r.order {
			if !yield(int(i), r.all.at(int(i))) {
				return
			}
		}
	}
}

// sort sorts the indexes.
func (r *internalRules) sort(compare func(a, b *internalRule) int) {
	r.order = make([]int32, 0, r.all.n)
	for i, this := range r.all.each() {
		if this.slot != shadowed {
			r.order = append(r.order, int32(i))
		}
	}
	byRule := func(i, j int32) int { return compare(r.all.at(int(i)), r.all.at(int(j))) }
	if !slices.IsSortedFunc(r.order, byRule) { // they mostly come so
		slices.SortFunc(r.order, byRule)
	}
}

// gatherInternalRules adds the unchanged rules with internal redirects of the ruleset before, and
// sorts all.
func (c *Compiler) gatherInternalRules() {
	c.opts.modes = c.modal > 0
	c.resetChains()
	for _, slot := range c.chains.internal {
		c.gatherInternalRule(slot)
	}
	c.table.internalRules.sort(func(a, b *internalRule) int {
		return c.opts.compareRules(
			a.rule, c.rankOfSource(a.source), b.rule, c.rankOfSource(b.source))
	})
	c.chains.internal = nil
	for _, this := range c.table.internalRules.inOrder() {
		c.chains.internal = append(c.chains.internal, this.slot)
	}
}

// gatherInternalRule adds the rule of a slot, unless it has changed.
func (c *Compiler) gatherInternalRule(slot int32) {
	entry := c.table.slots.at(int(slot))
	if !entry.hasRule() || entry.ref()&internalRef != 0 {
		return
	}
	var r record
	r.decode(&c.table.arena, c.table.arena.bytes(entry.ref()))
	rule := c.rule(entry.ref())
	if !isInternal(rule.Value) {
		return
	}
	this := c.table.internalRules.add(internalRule{
		rule: rule, key: r.key, value: newInternalValue(rule.Value), source: r.position.source,
		slot: slot, old: entry.ref(),
	})
	c.table.slots.set(int(slot), entry.withRef(this))
}
