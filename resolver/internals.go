package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// internalRule is a rule with an internal redirect, as it is kept until the ruleset is compiled.
type internalRule struct {
	rule   Rule
	key    string // canonical
	value  internalValue
	source int
	slot   int // its place in the table, or shadowed
	// remaining is what remains of the value's path behind the key that it matches.
	remaining string
	fate      fate
}

func (c *Compiler) internal(at ref) *internalRule {
	return &c.table.internals[at&^internalRef]
}

// storeInternals compiles the rules with internal redirects, and returns the errors that some of
// them answer with.
func (c *Compiler) storeInternals() []error {
	var failures numbered[error]
	for i := range c.table.internals {
		pauseAfter(i, c.pause)
		this := &c.table.internals[i]
		if this.slot == shadowed {
			continue
		}
		r := c.internalRecord(this, &failures)
		slot := &c.table.slots[this.slot]
		*slot = slot.withRef(c.store(&r))
	}
	return failures.all
}

// internalRecord returns the record of a rule with an internal redirect, whose fate is known.
func (c *Compiler) internalRecord(this *internalRule, failures *numbered[error]) record {
	f := &this.fate
	r := record{
		key:       this.key,
		hops:      uint8(min(f.hops, MaxRedirects)),
		ownStatus: this.rule.Status,
	}
	if f.failed() {
		r.setFailure(failures.number(f.err()))
	} else {
		c.opts.destinationOf(&r, f, &c.merger)
		r.status = f.status(c.opts.statusOf(this.rule))
	}
	r.describe(this.rule, this.source)
	return r
}

// destinationOf fills in the destination that a chain ends at.
func (o *options) destinationOf(r *record, f *fate, m *weburl.Merger) {
	r.base = f.base
	if f.state == fateUnmatched {
		r.base = o.origin + f.base
	}
	if f.state == fateUnmatched && o.origin == "" {
		r.flags |= requestOrigin
	}
	if f.appended != "" {
		r.flags |= joined
		r.base = string(appendAtSeam([]byte(r.base), f.appended))
	}
	r.query = string(o.appendConstantQuery(nil, m, f.search, strings.TrimPrefix(f.query, "?")))
	r.fragment = f.destinationFragment
	if f.fragment != "" {
		r.fragment = encodedFragment(f.fragment)
	}
}

// encodedFragment spells a fragment as R12 has it. It begins with "#".
func encodedFragment(written string) string {
	return string(weburl.AppendEncoded([]byte("#"), written[1:], weburl.FragmentSet))
}
