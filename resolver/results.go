package resolver

// Results reports, in no particular order, what [Ruleset.With] has changed for clients: the same as
// [CompareResults] does, without comparing what cannot have changed. Of a difference that Compare
// has returned it reports nothing. As long as a difference is held, so are both rulesets.
func (d *Difference) Results(report func(Change)) {
	switch {
	case d.derived == nil:
		return
	case d.derived.isAnew:
		CompareResults(d.derived.before, d.derived.next, report)
		return
	}
	before, next := d.derived.before, d.derived.next
	c := resultComparison{before: before, after: next, report: report}
	changed := d.derived.changedKeys()
	for key := range changed {
		if at := next.entryOf(key); at != 0 {
			c.compareEntry(at)
		} else {
			c.compareRemoved(before.entryOf(key))
		}
	}
	d.derived.eachBetween(changed, c.compareEntry)
	c.compareTemplates()
}

// changedKeys returns the keys without variables whose records are others, or gone.
func (d *derivation) changedKeys() map[string]bool {
	keys := map[string]bool{}
	for _, slot := range d.changedSlots(d.next) {
		for _, rs := range [...]*Ruleset{d.before, d.next} {
			if s := rs.table.slots.at(slot); s.hasRule() {
				keys[rs.table.key(s.ref())] = true
			}
		}
	}
	return keys
}

// eachBetween calls do with the entries of other rules that leave requests below them to shorter
// keys, or to templates, which may lead them elsewhere.
func (d *derivation) eachBetween(changed map[string]bool, do func(ref)) {
	rs := d.next
	rs.eachEntry(func(at ref) {
		flags := rs.headerOf(at).flags()
		if !flags.has(exactKey) && !flags.has(noDestination) {
			return
		}
		key := rs.table.key(at)
		if !changed[key] && (rs.templates != nil || d.before.templates != nil ||
			changed[key+"/"] || changed[key+"/"+anySegment] || isBelowAny(key, changed)) {
			do(at)
		}
	})
}

// isBelowAny reports whether a key lies below one of others.
func isBelowAny(key string, others map[string]bool) bool {
	for end := range len(key) {
		if key[end] == '/' && others[key[:end]] {
			return true
		}
	}
	return false
}
