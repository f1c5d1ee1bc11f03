package resolver

// finish adds to a derived ruleset what does not follow from its rules alone.
func (d *derivation) finish(next *Ruleset) {
	next.warnings.groups[ofRules] = d.warningsOfRules()
	if next.opts.reverse {
		next.reverse = d.before.reverse.reverseOf(next, d.changedSlots(next))
	}
}

// changedSlots returns the slots whose records are others than before.
func (d *derivation) changedSlots(next *Ruleset) (slots []int) {
	for at := range next.table.slots.differing(&d.before.table.slots) {
		slots = append(slots, at)
	}
	return slots
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
	if d.c.changed&scopeTemplates != 0 {
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
