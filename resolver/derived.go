package resolver

import (
	"maps"
	"slices"
)

// ruleset puts the new ruleset together.
func (d *derivation) ruleset() *Ruleset {
	before, c := d.before, d.c
	if d.ownsShadowed || d.followed {
		c.dropLines()
	}
	next := c.ruleset()
	next.lineage, next.taken = before.lineage, d.taken
	next.gone = before.gone + d.gone + c.replaced
	next.rules = before.rules + d.counted()
	if !d.followed {
		next.internal = before.internal
	}
	next.numberTemplates(before)
	if next.opts.digest {
		d.sumUp(next)
		next.digest = next.digestOfSum()
	}
	return next
}

// changedSlots returns the slots whose records are others than before.
func (d *derivation) changedSlots(next *Ruleset) []int {
	slots := slices.Collect(maps.Keys(d.touched))
	if !d.followed {
		return slots
	}
	for _, slot := range next.internal {
		at := int(slot)
		if !d.touched[at] && d.before.table.slots.at(at).ref() != next.table.slots.at(at).ref() {
			slots = append(slots, at)
		}
	}
	return slots
}

// counted returns how many rules more serve than before.
func (d *derivation) counted() int {
	return len(d.now) - len(d.old) + len(d.c.templates.all()) - len(d.before.templates.all())
}

// sumUp makes the sum that the digest is of.
func (d *derivation) sumUp(next *Ruleset) {
	next.sum = d.before.sum
	for _, rule := range d.old {
		next.sum.remove(rule)
	}
	for _, rule := range d.now {
		next.sum.add(rule)
	}
	if !d.inTemplates {
		return
	}
	for _, t := range d.before.templates.all() {
		next.sum.remove(t.rule)
	}
	for _, t := range next.templates.all() {
		next.sum.add(t.rule)
	}
}

// difference returns what changes.
func (d *derivation) difference(next *Ruleset) Difference {
	changed := newChangedKeys(namedKeys)
	for key, rule := range d.now {
		if was, is := d.old[key]; !is {
			changed.added.add(rule)
		} else if !sameContent(was, rule) {
			changed.changed.add(rule)
		}
	}
	for key, rule := range d.old {
		if _, is := d.now[key]; !is {
			changed.removed.add(rule)
		}
	}
	difference := changed.difference(d.before, next)
	d.next, difference.derived = next, d
	return difference
}
