package resolver

import (
	"fmt"
	"slices"
)

// chainCompiler finds the ends of the chains of all internal redirects, and makes their records.
type chainCompiler struct {
	*compiled
	errs    *errorList
	records *recordWriter
	// made are long queries and fragments, by what they were made from.
	made map[embedded]queryAndFragment
}

// chainCompiler returns a compiler of the chains of c's rules.
func (c *Compiler) chainCompiler() *chainCompiler {
	return &chainCompiler{
		compiled: c.compiled, errs: &c.errs, records: &c.records,
	}
}

// findChainEnds finds the end of the chain of every internal redirect.
func (c *Compiler) findChainEnds() { c.chainCompiler().findEnds() }

// findEnds visits each rule once.
func (c *chainCompiler) findEnds() {
	var chain []int
	for i, this := range c.table.internalRules.inOrder() {
		c.opts.pauseAfter(i)
		if this.state == endUnknown {
			chain = c.followChain(chain[:0], i)
		}
	}
}

// followChain follows the chain of rule i until its end is known, and then goes back. The memory of
// chain, the stack of rules, is reused.
func (c *chainCompiler) followChain(chain []int, i int) []int {
	for {
		chain = append(chain, i)
		this := i
		c.table.internalRules.all.at(this).state = endBeingFound
		var ends bool
		if i, ends = c.nextInChain(this); ends {
			break
		}
		rules := &c.table.internalRules.all
		if state := rules.at(i).state; state == endBeingFound {
			c.closeLoop(chain, i)
			break
		} else if state != endUnknown {
			c.setEnd(rules.at(this), c.endBefore(rules.at(this), rules.at(i)))
			break
		}
	}
	rules := &c.table.internalRules.all
	for at := len(chain) - 2; at >= 0; at-- {
		if this := rules.at(chain[at]); this.state == endBeingFound {
			c.setEnd(this, c.endBefore(this, rules.at(chain[at+1])))
		}
	}
	return chain
}

// nextInChain returns the rule with an internal redirect that follows rule i. If there is none, it
// sets the end of rule i.
func (c *chainCompiler) nextInChain(i int) (next int, ends bool) {
	this := c.table.internalRules.all.at(i)
	c.chains.concerns.addPath(&c.opts, this.value.path)
	found := lookUp(&c.table, c.templates, this.value.path)
	this.remaining = found.literal.remaining
	switch {
	case found.isSpent():
		c.setEnd(this, chainEnd{state: endTooManyRedirects})
		return 0, true
	case found.isTemplate():
		c.setEnd(this, c.endBehindTemplate(this))
		return 0, true
	case found.literal.ref&internalRef == 0:
		c.setEnd(this, c.lastEnd(this, &found))
		return 0, true
	}
	return int(found.literal.ref &^ internalRef), false
}

// endBehindTemplate returns the end of a rule whose value matches a template. From the template on,
// each value has an end of its own.
func (c *chainCompiler) endBehindTemplate(this *internalRule) chainEnd {
	first := c.opts.stepOf(this)
	end := c.follow(this.rule, this.value.path, c.opts.newChain(&first), c.opts.literalLimits())
	if end.failed() {
		end.inCycle = end.cycle != nil && slices.Contains(end.cycle.Cycle, this.rule.Key)
		return end
	}
	return c.limited(end, this)
}

// newChain returns a chain of one step. Rules that are not compiled yet may lead to it.
func (o *options) newChain(first *step) chainEnd {
	chain := newChain(first)
	chain.anyMode = o.modes
	return chain
}

// stepOf returns the step of a rule whose key matches a whole path.
func (o *options) stepOf(this *internalRule) step {
	return step{
		key: this.rule.Key, status: o.statusOf(this.rule), mode: this.rule.Query, internal: true,
		query: this.value.query, fragment: this.value.fragment,
	}
}

// lastEnd returns the end of a rule whose value no internal redirect follows: an absolute
// destination, an outcome, or nothing.
func (c *chainCompiler) lastEnd(this *internalRule, found *match) chainEnd {
	end := c.opts.unmatchedEnd(this)
	end.appended = this.remaining
	if found.isNone() {
		return c.limited(end, this)
	}
	last, _ := literalStep(&c.opts, &c.table, found, &end)
	if last.outcome == "" {
		end.add(&last)
	} else {
		this.remaining, end.appended = "", "" // as the path stays whole, or is of no use
		end.endAt(last.outcome)
	}
	return c.limited(end, this)
}

// endBefore returns the end of a rule whose value another internal redirect follows.
func (c *chainCompiler) endBefore(this, next *internalRule) chainEnd {
	end := c.opts.endOf(next)
	if end.failed() {
		// The rest is not needed, and what is appended would grow without bounds.
		return chainEnd{state: end.state, cycle: end.cycle, refusal: end.refusal}
	}
	made := len(end.appended) + len(this.remaining)
	if end.appended != "" && this.remaining != "" && !c.charge(this.rule, made) {
		return chainEnd{state: endTooManyRedirects}
	}
	if end.state != endGone {
		end.appended += this.remaining
	}
	first := c.opts.stepOf(this)
	end.precede(&first)
	return c.limited(end, this)
}

// limited applies the limits to the end of a rule.
func (c *chainCompiler) limited(end chainEnd, this *internalRule) chainEnd {
	switch {
	case end.hops > c.opts.maxRedirects:
		end.state = endTooManyRedirects
	case len(end.base)+len(end.appended) > maxDestination:
		c.errs.fail(this.rule, ErrInvalidValue, "the chain appends so much that its destination is "+
			"longer than 65535 bytes; change the destination")
		end.state = endTooManyRedirects
	}
	return end
}

// closeLoop sets the ends of the rules of a loop. It begins at rule first, to which the last rule
// of the chain leads.
func (c *chainCompiler) closeLoop(chain []int, first int) {
	start := len(chain) - 1
	for chain[start] != first {
		start--
	}
	loop := &LoopError{}
	for _, i := range chain[start:] {
		loop.Cycle = append(loop.Cycle, c.table.internalRules.all.at(i).rule.Key)
	}
	for _, i := range chain[start:] {
		end := chainEnd{state: endLoop, cycle: loop, inCycle: true}
		c.setEnd(c.table.internalRules.all.at(i), end)
	}
}

// follow follows the chain of a rule through templates, within limits. It begins at the path to
// which the rule leads.
func (c *chainCompiler) follow(rule Rule, at string, chain chainEnd, limits chainLimits) chainEnd {
	if !c.charge(rule, len(at)) {
		return chainEnd{state: endTooManyRedirects}
	}
	s := c.stepper(at, limits)
	s.concerns = c.chains.concerns
	end := s.follow(chain)
	if !c.charge(rule, s.made+s.effort) {
		return chainEnd{state: endTooManyRedirects}
	}
	return end
}

// endOf returns the end of a rule.
func (o *options) endOf(this *internalRule) chainEnd {
	if this.end != nil {
		return *this.end
	}
	return o.unmatchedEnd(this)
}

// unmatchedEnd returns the end of a rule whose value no key matches.
func (o *options) unmatchedEnd(this *internalRule) chainEnd {
	first := o.stepOf(this)
	end := o.newChain(&first)
	end.base = this.value.path
	return end
}

// setEnd sets the end of a rule. For most rules, it follows from the rule, and is not kept.
func (c *chainCompiler) setEnd(this *internalRule, end chainEnd) {
	this.state, this.end = end.state, nil
	if end.state != endUnmatched || end != c.opts.unmatchedEnd(this) {
		kept := end
		this.end = &kept
	}
}

// charge counts text that a chain makes from a rule. It returns false, with an error, if all chains
// together have made too much for the length of the rules. This limits the time of compiling.
func (c *chainCompiler) charge(rule Rule, bytes int) bool {
	c.derived += bytes
	if c.derived <= c.mostDerived() {
		return true
	}
	c.errs.fail(rule, ErrTooLarge, fmt.Sprintf("the chains up to this rule make %d bytes of "+
		"paths and destinations out of rules of %d; lead the rule to a URL, or make its chain shorter",
		c.derived, c.written))
	return false
}
