package resolver

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// storeInternalRules compiles the rules with internal redirects.
func (c *Compiler) storeInternalRules() {
	c.chainCompiler().storeRules()
	c.table.internalRules = internalRules{}
}

// storeRules makes and stores the records of rules whose chains are known.
func (c *chainCompiler) storeRules() {
	failures := newFailures(c.chains.failures)
	for i, this := range c.table.internalRules.inOrder() {
		c.opts.pauseAfter(i)
		r := c.internalRecord(this, failures)
		if r.flags.has(requestOrigin) {
			c.chains.atSite.add(this.rule)
		}
		at := this.old
		isKept := at != 0 && c.isRecord(at, &r)
		if c.chained += c.records.share(&r); !isKept {
			at = c.records.store(&r)
		}
		if this.old != 0 && at != this.old {
			c.table.gone += c.table.recordSize(this.old)
		}
		slot := int(this.slot)
		c.table.slots.set(slot, c.table.slots.at(slot).withRef(at))
	}
	c.chains.failures = failures.all
}

// isRecord reports whether a record equals that of an entry, except for the rule's position. It
// shares the long parts of the old record.
func (c *chainCompiler) isRecord(at ref, r *record) bool {
	var old record
	old.decode(&c.table.arena, c.table.arena.bytes(at))
	shared := old.shared
	old.shared, old.flags = r.shared, old.flags&^longParts
	old.position.line, old.position.column = r.position.line, r.position.column
	if old != *r {
		return false
	}
	r.shared = shared
	return true
}

// failures are the errors of rules. Equal ones have one number.
type failures struct {
	all     []error
	numbers map[string]int // by what they say
}

// newFailures returns failures that continue a list.
func newFailures(before []error) *failures {
	f := &failures{slices.Clip(before), map[string]int{}}
	for i, err := range before {
		f.numbers[failureText(err)] = i
	}
	return f
}

func failureText(err error) string {
	if loop, is := err.(*LoopError); is {
		return "\x00" + strings.Join(loop.Cycle, "\x00")
	}
	return err.Error()
}

// number returns the number of an error.
func (f *failures) number(err error) int {
	text := failureText(err)
	n, known := f.numbers[text]
	if !known {
		n = len(f.all)
		f.all, f.numbers[text] = append(f.all, err), n
	}
	return n
}

// internalRecord returns the record of a rule with an internal redirect whose chain is known.
func (c *chainCompiler) internalRecord(this *internalRule, failures *failures) record {
	end := c.opts.endOf(this)
	r := record{
		key:       this.key,
		hops:      uint8(min(end.hops, MaxRedirects)),
		ownStatus: this.rule.Status,
		mode:      this.rule.Query,
	}
	switch {
	case end.failed():
		r.setFailure(failures.number(end.err()))
	case end.state == endGone:
		r.setOutcome(GoneValue)
	case end.appended == "" || c.charge(this.rule, len(end.base)+len(end.appended)):
		c.opts.setBase(&r, &end)
		c.setQueryAndFragment(&r, this)
		r.status = end.status(c.opts.statusOf(this.rule))
	}
	r.describe(this.rule, this.source)
	return r
}

// embedded is what query and fragment of a chain's destination are made from, and the query mode.
type embedded struct {
	search, query, fragment string
	mode, searchMode        QueryMode
}

// changesSearch reports whether the query differs from the search.
func (e *embedded) changesSearch() bool {
	return e.query != "" || e.search != "" && e.mode != e.searchMode
}

// embedded returns what query and fragment of a chain's destination are made from.
func (e *chainEnd) embedded(o *options) embedded {
	query := strings.TrimPrefix(e.query, "?")
	mode := o.queryOf(e.mode)
	if mode == queryOwn {
		if query = e.lastQuery; e.laterQuery != nil {
			query = e.laterQuery.String()
		}
	}
	return embedded{e.search, query, e.fragment, mode, e.searchMode}
}

// queryAndFragment are the results.
type queryAndFragment struct{ query, fragment string }

// setQueryAndFragment sets the destination's query and fragment. Long ones are made once for all
// chains with the same.
func (c *chainCompiler) setQueryAndFragment(r *record, this *internalRule) {
	end := c.opts.endOf(this)
	from := end.embedded(&c.opts)
	if made, known := c.made[from]; known {
		r.query, r.fragment = made.query, made.fragment
		return
	}
	if from.fragment == "" && !from.changesSearch() {
		c.opts.setQueryAndFragment(r, &end, c.merger)
		return
	}
	length := len(from.search) + len(from.query) + len(from.fragment)
	if !c.charge(this.rule, length) {
		return
	}
	c.opts.setQueryAndFragment(r, &end, c.merger)
	if length >= longPart {
		if c.made == nil {
			c.made = map[embedded]queryAndFragment{}
		}
		c.made[from] = queryAndFragment{r.query, r.fragment}
	}
}

// destinationOf sets the destination at the end of a chain.
func (o *options) destinationOf(r *record, end *chainEnd, m *weburl.Merger) {
	o.setBase(r, end)
	o.setQueryAndFragment(r, end, m)
}

// setBase sets origin and path.
func (o *options) setBase(r *record, end *chainEnd) {
	r.base = end.base
	if end.state == endUnmatched {
		r.base = o.origin + end.base
	}
	if end.state == endUnmatched && o.origin == "" {
		r.flags |= requestOrigin
	}
	if end.appended != "" {
		r.flags |= joined
		r.base = string(appendAtSeam([]byte(r.base), end.appended))
	}
}

func (o *options) setQueryAndFragment(r *record, end *chainEnd, m *weburl.Merger) {
	from := end.embedded(o)
	if r.query = from.search; from.changesSearch() {
		r.query = string(from.mode.appendConstantQuery(nil, m, from.search, from.query))
	}
	r.fragment = end.destinationFragment
	if end.fragment != "" {
		r.fragment = encodedFragment(end.fragment)
	}
}

// encodedFragment returns a fragment in the spelling of R12. It begins with "#".
func encodedFragment(written string) string {
	return string(weburl.AppendEncoded([]byte("#"), written[1:], weburl.FragmentSet))
}
