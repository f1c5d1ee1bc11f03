package resolver

import (
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

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
	difference.isDerived = true
	return difference
}

// Results yields the changes for clients that [CompareResults] reports, in no particular order.
// After [Ruleset.With], it compares only what can have changed. The difference keeps both rulesets
// in memory.
func (d *Difference) Results() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		c := resultComparison{before: d.before, after: d.after, yield: yield}
		switch {
		case d.after == nil: // nothing was compared
		case d.isDerived:
			c.compareDerived()
		default:
			c.compareAll()
		}
	}
}

// ResultOf returns the change for clients of a key, in any spelling.
func (d *Difference) ResultOf(key string) (change Change, is bool) {
	if d.after == nil { // nothing was compared
		return change, false
	}
	c := resultComparison{before: d.before, after: d.after, yield: func(found Change) bool {
		change, is = found, true
		return false
	}}
	if key = d.after.opts.canonicalKey(key); IsTemplate(key) {
		c.compareTemplates(key)
	} else {
		c.compareKey(key)
	}
	return change, is
}

// compareDerived compares what a derivation has changed.
func (c *resultComparison) compareDerived() {
	for now, was := range c.changedSlots() {
		if now.hasRule() {
			c.compareEntry(now.ref())
		} else if was.hasRule() {
			c.compareRemoved(was.ref())
		}
		if c.isDone {
			return
		}
	}
	c.compareBetween(c.changedKeys())
	c.compareTemplates("")
}

// changedSlots yields the changed slots, after and before.
func (c *resultComparison) changedSlots() iter.Seq2[slot, slot] {
	return func(yield func(now, was slot) bool) {
		now, was := &c.after.table.slots, &c.before.table.slots
		for at := range now.differing(was) {
			if !yield(now.at(at), was.at(at)) {
				return
			}
		}
	}
}

// changedKeys returns the keys without variables whose records have changed, or are gone.
func (c *resultComparison) changedKeys() map[string]bool {
	keys := map[string]bool{}
	for now, was := range c.changedSlots() {
		if now.hasRule() {
			keys[c.after.table.key(now.ref())] = true
		}
		if was.hasRule() {
			keys[c.before.table.key(was.ref())] = true
		}
	}
	return keys
}

// compareBetween compares unchanged rules that leave requests below them to shorter keys, or to
// templates, which may lead them elsewhere now.
func (c *resultComparison) compareBetween(changed map[string]bool) {
	rs := c.after
	if rs.templates != c.before.templates || rs.templates.hasInternal() {
		rs.eachEntry(func(at ref) {
			flags := headerOf(rs.table.arena.bytes(at)).flags()
			if (flags.has(exactKey) || flags.has(noDestination)) && !changed[rs.table.key(at)] {
				c.compareEntry(at)
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
		c.compareEntry(at)
	}
}

// isBelowAny reports whether a key is below one of others. If it has a malformed escape, its
// beginning has a canonical form of its own (R3).
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
