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
	next.warnings.groups[ofRules] = d.warningsOfRules()
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
	return len(d.now) - len(d.old) + d.c.templates.len() - d.before.templates.len()
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
	for _, t := range d.before.templates.each() {
		next.sum.remove(t.rule)
	}
	for _, t := range next.templates.each() {
		next.sum.add(t.rule)
	}
}

// warningsOfRules returns those of rules without variables.
func (d *derivation) warningsOfRules() []rankedWarning {
	before, added := d.before.warnings.groups[ofRules], d.c.warnings.groups[ofRules]
	all := make([]rankedWarning, 0, len(before)+len(added))
	for _, w := range before {
		if !d.rewarned[w.Key] {
			all = append(all, w)
		}
	}
	return append(all, added...)
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
	difference := changed.difference(d.before, next, d.newWarnings())
	d.next, difference.derived = next, d
	return difference
}

// newWarnings returns those that the ruleset before does not have. There can be very many, so that
// those which have been taken over are not looked at.
func (d *derivation) newWarnings() []Warning {
	made := warningList{}
	made.groups[ofRules] = d.c.warnings.groups[ofRules]
	if d.inTemplates {
		made.groups[ofTemplates] = d.c.warnings.groups[ofTemplates]
	}
	made.groups[ofChains] = d.c.warnings.groups[ofChains][d.keptOfChains:]
	if d.read != nil {
		made.read = d.c.warnings.read
	}
	return newWarnings(d.before, made.list())
}

// readWarnings returns those of the reader of a source.
func (d *derivation) readWarnings(rank int) []Warning {
	if read, again := d.read[rank]; again {
		return read
	}
	if all := d.before.warnings.read; rank < len(all) {
		return all[rank]
	}
	return nil
}
