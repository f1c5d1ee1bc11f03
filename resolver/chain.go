package resolver

import (
	"math"
	"slices"
)

// fate is what becomes of every request that a rule with an internal redirect matches: after the
// first match the pathname is the rule's value and no longer depends on the request.
type fate struct {
	state fateState
	// hops are the internal redirects taken.
	hops int
	// base is the absolute destination without its query and fragment, or the last path, which no
	// key matches.
	base string
	// appended is relativePathname without the request's part.
	appended string
	// search is the absolute destination's; query and fragment are the first embedded ones, as
	// written; destinationFragment is the absolute destination's.
	search, query, fragment, destinationFragment string
	// allPermanent and anyPreserving say what the statuses of all rules from here on are.
	allPermanent, anyPreserving bool
	// cycle is the loop that the chain ends in; inCycle says whether the rule is part of it.
	cycle   *LoopError
	inCycle bool
	// refusal is why captures along the chain lead nowhere.
	refusal error
}

type fateState uint8

const (
	fateUnknown fateState = iota
	fateBeingFound
	fateAbsolute
	fateUnmatched
	fateLoop
	fateTooManyRedirects
	fateRefused
)

// findFates works out what becomes of every internal redirect. Each rule is visited once.
func (c *Compiler) findFates() {
	var chain []int
	for i := range c.table.internals {
		pauseAfter(i, c.pause)
		if c.table.internals[i].slot >= 0 && c.table.internals[i].fate.state == fateUnknown {
			chain = c.followChain(chain[:0], i)
		}
	}
}

// followChain follows the chain from rule i until a fate is known, and then goes back. The stack of
// rules is kept in chain, whose memory is used again.
func (c *Compiler) followChain(chain []int, i int) []int {
	for {
		chain = append(chain, i)
		this := i
		c.table.internals[this].fate.state = fateBeingFound
		var ends bool
		if i, ends = c.nextInChain(this); ends {
			break
		}
		internals := c.table.internals
		if state := internals[i].fate.state; state == fateBeingFound {
			c.closeLoop(chain, i)
			break
		} else if state != fateUnknown {
			internals[this].fate = c.hop(&internals[this], &internals[i])
			break
		}
	}
	internals := c.table.internals
	for at := len(chain) - 2; at >= 0; at-- {
		if this := &internals[chain[at]]; this.fate.state == fateBeingFound {
			this.fate = c.hop(this, &internals[chain[at+1]])
		}
	}
	return chain
}

// nextInChain returns the rule with an internal redirect that follows rule i, or settles the fate of rule i where none does.
func (c *Compiler) nextInChain(i int) (next int, ends bool) {
	this := &c.table.internals[i]
	path := splitPath{text: this.value.path}
	found, _, template := lookup(&c.table, c.templates, &path, unlimitedWork())
	this.remaining = found.remaining
	switch {
	case template.rule != nil:
		this.fate = c.followTemplate(this)
		return 0, true
	case found.ref&internalRef == 0:
		this.fate = c.lastHop(this, found.ref)
		return 0, true
	}
	return int(found.ref &^ internalRef), false
}

// followTemplate is the fate of a rule whose value matches a template, from which on each value has a fate of its own.
func (c *Compiler) followTemplate(this *internalRule) fate {
	begin := fate{query: this.value.query, fragment: this.value.fragment}
	f := c.walk(this.rule, this.value.path, begin, math.MaxInt)
	if f.failed() {
		f.inCycle = f.cycle != nil && slices.Contains(f.cycle.Cycle, this.rule.Key)
		return f
	}
	return c.withOwnStatus(f, this)
}

// lastHop is the fate of a rule whose value no internal redirect follows: an absolute destination, or nothing.
func (c *Compiler) lastHop(this *internalRule, next ref) fate {
	f := fate{
		state:        fateUnmatched,
		hops:         1,
		base:         this.value.path,
		appended:     this.remaining,
		query:        this.value.query,
		fragment:     this.value.fragment,
		allPermanent: true,
	}
	if next != 0 {
		c.endAtAbsolute(&f, next)
	}
	return c.withOwnStatus(f, this)
}

// endAtAbsolute ends a chain at the absolute destination that its last value matches.
func (c *Compiler) endAtAbsolute(f *fate, next ref) {
	var r record
	r.decodeAnswer(&c.table.arena, c.table.arena.bytes(next))
	f.state = fateAbsolute
	f.base, f.search, f.destinationFragment = r.base, r.query, r.fragment
	f.allPermanent = isPermanent(r.status)
	f.anyPreserving = isPreserving(r.status)
}

// hop is the fate of a rule whose value another internal redirect follows.
func (c *Compiler) hop(this, next *internalRule) fate {
	f := next.fate
	if f.failed() {
		// Nothing of it is needed any more, and what is appended would grow without bounds.
		return fate{state: f.state, cycle: f.cycle}
	}
	f.hops++
	if f.appended != "" && this.remaining != "" && !c.derive(this.rule, len(f.appended)+len(this.remaining)) {
		return fate{state: fateTooManyRedirects}
	}
	f.appended += this.remaining
	if this.value.query != "" {
		f.query = this.value.query
	}
	if this.value.fragment != "" {
		f.fragment = this.value.fragment
	}
	return c.withOwnStatus(f, this)
}

// withOwnStatus adds the status of a rule to the fate of its chain, and applies the limits.
func (c *Compiler) withOwnStatus(f fate, this *internalRule) fate {
	status := c.opts.statusOf(this.rule)
	f.allPermanent = f.allPermanent && isPermanent(status)
	f.anyPreserving = f.anyPreserving || isPreserving(status)
	switch {
	case f.hops > c.opts.maxRedirects:
		f.state = fateTooManyRedirects
	case len(f.base)+len(f.appended) > maxDestination:
		c.fail(this.rule, ErrInvalidValue, "the chain appends so much that its destination is longer than 65535 bytes; lead the rule elsewhere")
		f.state = fateTooManyRedirects
	}
	return f
}

// failed reports whether requests are answered with an error.
func (f *fate) failed() bool { return f.state >= fateLoop }

// err returns the error that they are answered with.
func (f *fate) err() error {
	switch f.state {
	case fateLoop:
		return f.cycle
	case fateRefused:
		return f.refusal
	}
	return ErrTooManyRedirects
}

// closeLoop settles the rules of a loop. It begins at rule first, where the last rule of the chain
// leads.
func (c *Compiler) closeLoop(chain []int, first int) {
	start := len(chain) - 1
	for chain[start] != first {
		start--
	}
	loop := &LoopError{}
	for _, i := range chain[start:] {
		loop.Cycle = append(loop.Cycle, c.table.internals[i].rule.Key)
	}
	for _, i := range chain[start:] {
		c.table.internals[i].fate = fate{state: fateLoop, cycle: loop, inCycle: true}
	}
}

func isPermanent(status int) bool  { return status == 301 || status == 308 }
func isPreserving(status int) bool { return status == 307 || status == 308 }

// status combines the statuses along the chain of a rule.
func (f *fate) status(own int) int {
	switch {
	case own == 303:
		return 303
	case f.allPermanent && f.anyPreserving:
		return 308
	case f.allPermanent:
		return 301
	case f.anyPreserving:
		return 307
	}
	return 302
}
