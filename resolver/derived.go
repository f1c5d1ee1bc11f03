package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// changedSlots returns the slots whose records are others than before.
func (d *derivation) changedSlots(next *Ruleset) (slots []int) {
	for at := range next.table.slots.differing(&d.before.table.slots) {
		slots = append(slots, at)
	}
	return slots
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
	if rs.templates != d.before.templates || rs.templates.hasInternal() {
		rs.eachEntry(func(at ref) {
			flags := headerOf(rs.table.arena.bytes(at)).flags()
			if (flags.has(exactKey) || flags.has(noDestination)) && !changed[rs.table.key(at)] {
				do(at)
			}
		})
		return
	}
	found := map[ref]bool{}
	for key := range changed {
		for _, sampled := range [...]string{"/", "/" + AnySegment} {
			if above, ok := strings.CutSuffix(key, sampled); ok && !changed[above] {
				found[rs.entryOf(above)] = true
			}
		}
	}
	for _, s := range rs.table.entries(&rs.opts) {
		if !s.isExact() { // which most are not, and their records not read
			continue
		}
		if key := rs.table.key(s.ref()); !changed[key] && rs.opts.isBelowAny(key, changed) {
			found[s.ref()] = true
		}
	}
	delete(found, 0)
	for at := range found {
		do(at)
	}
}

// isBelowAny reports whether a key lies below one of others. Of one with a malformed escape, what
// it begins with has a canonical form of its own (R3).
func (o *options) isBelowAny(key string, others map[string]bool) bool {
	isCanonical := weburl.MalformedTriplet(key) < 0
	for end := range len(key) {
		if key[end] != '/' {
			continue
		}
		above := key[:end]
		if !isCanonical {
			above = string(o.appendKey(nil, above))
		}
		if others[above] {
			return true
		}
	}
	return false
}
