package resolver

import "slices"

// findChainEnds works out what every internal redirect comes to. Each rule is visited once.
func (c *Compiler) findChainEnds() {
	var chain []int
	for i, this := range c.internalInOrder() {
		c.opts.pauseAfter(i)
		if this.state == endUnknown {
			chain = c.followChain(chain[:0], i)
		}
	}
}

// followChain follows the chain from rule i until its end is known, and then goes back. The stack
// of rules is kept in chain, whose memory is used again.
func (c *Compiler) followChain(chain []int, i int) []int {
	for {
		chain = append(chain, i)
		this := i
		c.table.internalRules.at(this).state = endBeingFound
		var ends bool
		if i, ends = c.nextInChain(this); ends {
			break
		}
		rules := &c.table.internalRules
		if state := rules.at(i).state; state == endBeingFound {
			c.closeLoop(chain, i)
			break
		} else if state != endUnknown {
			c.setEnd(rules.at(this), c.endBefore(rules.at(this), rules.at(i)))
			break
		}
	}
	rules := &c.table.internalRules
	for at := len(chain) - 2; at >= 0; at-- {
		if this := rules.at(chain[at]); this.state == endBeingFound {
			c.setEnd(this, c.endBefore(this, rules.at(chain[at+1])))
		}
	}
	return chain
}

// nextInChain returns the rule with an internal redirect that follows rule i. Where none does, it
// settles what rule i comes to.
func (c *Compiler) nextInChain(i int) (next int, ends bool) {
	this := c.table.internalRules.at(i)
	found := lookUp(&c.table, c.templates, this.value.path)
	this.remaining = found.literal.remaining
	switch {
	case found.isSpent():
		c.setEnd(this, chainEnd{state: endTooManyRedirects})
		return 0, true
	case found.isTemplate():
		if t := &found.template; t.isExact && t.value.outcome == "" {
			this.exact = t.key
		}
		c.setEnd(this, c.endBehindTemplate(this))
		return 0, true
	case found.literal.ref&internalRef == 0:
		c.setEnd(this, c.lastEnd(this, &found))
		return 0, true
	}
	return int(found.literal.ref &^ internalRef), false
}

// endBehindTemplate is what a rule comes to whose value matches a template. From there on each
// value has an end of its own.
func (c *Compiler) endBehindTemplate(this *internalRule) chainEnd {
	first := c.stepOf(this)
	end := c.follow(this.rule, this.value.path, c.newChain(&first), c.opts.literalLimits())
	if end.failed() {
		end.inCycle = end.cycle != nil && slices.Contains(end.cycle.Cycle, this.rule.Key)
		return end
	}
	return c.limited(end, this)
}

// newChain returns a chain of one step, to which the rules that are yet to be compiled may lead.
func (c *Compiler) newChain(first *step) chainEnd {
	chain := newChain(first)
	chain.anyMode = c.opts.modes
	return chain
}

// stepOf is the step that a rule is, of whose key nothing remains.
func (c *Compiler) stepOf(this *internalRule) step {
	return step{
		key: this.rule.Key, status: c.opts.statusOf(this.rule), mode: this.rule.Query, internal: true,
		query: this.value.query, fragment: this.value.fragment,
	}
}

// lastEnd is what a rule comes to whose value no internal redirect follows: an absolute
// destination, an outcome, or nothing.
func (c *Compiler) lastEnd(this *internalRule, found *match) chainEnd {
	end := c.unmatchedEnd(this)
	end.appended = this.remaining
	if found.isNone() {
		return c.limited(end, this)
	}
	last, _ := literalStep(&c.opts, &c.table, found, &end)
	if last.outcome == "" {
		end.add(&last)
		if c.table.slots.at(int(found.literal.at)).isExact() {
			this.exact = last.key
		}
	} else {
		this.remaining, end.appended = "", "" // as the path stays whole, or is of no use
		end.endAt(last.outcome)
	}
	return c.limited(end, this)
}

// endBefore is what a rule comes to whose value another internal redirect follows.
func (c *Compiler) endBefore(this, next *internalRule) chainEnd {
	end := c.endOf(next)
	if end.failed() {
		// Nothing of it is needed any more, and what is appended would grow without bounds.
		return chainEnd{state: end.state, cycle: end.cycle, refusal: end.refusal}
	}
	made := len(end.appended) + len(this.remaining)
	if end.appended != "" && this.remaining != "" && !c.derive(this.rule, made) {
		return chainEnd{state: endTooManyRedirects}
	}
	if end.state != endGone {
		end.appended += this.remaining
	}
	if this.exact = next.exact; next.rule.Exact {
		this.exact = next.rule.Key
	}
	first := c.stepOf(this)
	end.precede(&first)
	return c.limited(end, this)
}

// limited applies the limits to what a rule comes to.
func (c *Compiler) limited(end chainEnd, this *internalRule) chainEnd {
	switch {
	case end.hops > c.opts.maxRedirects:
		end.state = endTooManyRedirects
	case len(end.base)+len(end.appended) > maxDestination:
		c.fail(this.rule, ErrInvalidValue, "the chain appends so much that its destination is "+
			"longer than 65535 bytes; lead the rule elsewhere")
		end.state = endTooManyRedirects
	}
	return end
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
		loop.Cycle = append(loop.Cycle, c.table.internalRules.at(i).rule.Key)
	}
	for _, i := range chain[start:] {
		end := chainEnd{state: endLoop, cycle: loop, inCycle: true}
		c.setEnd(c.table.internalRules.at(i), end)
	}
}

// follow follows the chain of a rule through templates, within limits. It begins at the path that
// the rule leads to.
func (c *Compiler) follow(rule Rule, at string, chain chainEnd, limits chainLimits) chainEnd {
	if !c.derive(rule, len(at)) {
		return chainEnd{state: endTooManyRedirects}
	}
	s := stepper{
		opts: &c.opts, table: &c.table, templates: c.templates, merger: &c.merger,
		limits: limits, at: at,
	}
	end := s.follow(chain)
	if !c.derive(rule, s.made+s.effort) {
		return chainEnd{state: endTooManyRedirects}
	}
	return end
}
