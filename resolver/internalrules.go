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
	end       chainEnd
}

func (c *Compiler) internal(at ref) *internalRule {
	return &c.table.internalRules[at&^internalRef]
}

// storeInternalRules compiles the rules with internal redirects, and returns the errors that some
// of them answer with.
func (c *Compiler) storeInternalRules() []error {
	var failures numbered[error]
	for i := range c.table.internalRules {
		c.opts.pauseAfter(i)
		this := &c.table.internalRules[i]
		if this.slot == shadowed {
			continue
		}
		r := c.internalRecord(this, &failures)
		if r.flags.has(requestOrigin) {
			c.atSite.add(this.rule)
		}
		c.share(&r)
		slot := &c.table.slots[this.slot]
		*slot = slot.withRef(c.store(&r))
	}
	return failures.all
}

// internalRecord returns the record of a rule with an internal redirect, whose chain is known.
func (c *Compiler) internalRecord(this *internalRule, failures *numbered[error]) record {
	f := &this.end
	r := record{
		key:       this.key,
		hops:      uint8(min(f.hops, MaxRedirects)),
		ownStatus: this.rule.Status,
	}
	if f.failed() {
		r.setFailure(failures.number(f.err()))
	} else if f.appended == "" || c.derive(this.rule, len(f.base)+len(f.appended)) {
		c.opts.setBase(&r, f)
		c.setQueryAndFragment(&r, this)
		r.status = f.status(c.opts.statusOf(this.rule))
	}
	r.describe(this.rule, this.source)
	return r
}

// embedded is what of a chain query and fragment of its destination are made of.
type embedded struct{ search, query, fragment string }

// queryAndFragment are what is made of it.
type queryAndFragment struct{ query, fragment string }

// setQueryAndFragment fills in the destination's query and fragment. Long ones are made once for
// all chains that have the same.
func (c *Compiler) setQueryAndFragment(r *record, this *internalRule) {
	f := &this.end
	from := embedded{f.search, f.query, f.fragment}
	if made, known := c.made[from]; known {
		r.query, r.fragment = made.query, made.fragment
		return
	}
	if f.query == "" && f.fragment == "" {
		c.opts.setQueryAndFragment(r, f, &c.merger)
		return
	}
	length := len(f.search) + len(f.query) + len(f.fragment)
	if !c.derive(this.rule, length) {
		return
	}
	c.opts.setQueryAndFragment(r, f, &c.merger)
	if length >= longPart {
		if c.made == nil {
			c.made = map[embedded]queryAndFragment{}
		}
		c.made[from] = queryAndFragment{r.query, r.fragment}
	}
}

// destinationOf fills in the destination that a chain ends at.
func (o *options) destinationOf(r *record, f *chainEnd, m *weburl.Merger) {
	o.setBase(r, f)
	o.setQueryAndFragment(r, f, m)
}

// setBase fills in origin and path.
func (o *options) setBase(r *record, f *chainEnd) {
	r.base = f.base
	if f.state == endUnmatched {
		r.base = o.origin + f.base
	}
	if f.state == endUnmatched && o.origin == "" {
		r.flags |= requestOrigin
	}
	if f.appended != "" {
		r.flags |= joined
		r.base = string(appendAtSeam([]byte(r.base), f.appended))
	}
}

func (o *options) setQueryAndFragment(r *record, f *chainEnd, m *weburl.Merger) {
	if r.query = f.search; f.query != "" {
		r.query = string(o.appendConstantQuery(nil, m, f.search, strings.TrimPrefix(f.query, "?")))
	}
	r.fragment = f.destinationFragment
	if f.fragment != "" {
		r.fragment = encodedFragment(f.fragment)
	}
}

// encodedFragment spells a fragment as R12 has it. It begins with "#".
func encodedFragment(written string) string {
	return string(weburl.AppendEncoded([]byte("#"), written[1:], weburl.FragmentSet))
}
