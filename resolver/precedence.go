package resolver

// NextSource begins a source of lower precedence. Where one of the rules added so far has the key
// of a rule added later, it shadows that rule. Without NextSource all rules are of one source, in
// which a key may stand once. Messages call rules added before it inline rules, where they have no
// line.
func (c *Compiler) NextSource() {
	c.rank++
}

// fillTable gives every rule its place in the table, and reports duplicate keys.
func (c *Compiler) fillTable() {
	if c.table.slots.n == 0 {
		c.table.slots = makePages[slot](slotsFor(c.added.n))
	}
	for n, added := range c.added.each() {
		c.opts.pauseAfter(n)
		at, inserted := c.table.insert(added.hash, added.slot)
		if !inserted {
			c.table.forgetKey(c.table.key(added.slot.ref()))
			c.settle(n, c.table.slots.at(at).ref(), added.slot.ref())
			at = shadowed
		}
		if this := added.slot.ref(); this&internalRef != 0 {
			c.table.internal(this).slot = int32(at)
		}
	}
}

// settle reports what becomes of the n-th rule, whose key an earlier one has. Within a source that
// is an error, and of two sources the first one's rule serves.
func (c *Compiler) settle(n int, earlier, later ref) {
	first, firstRank := c.ruleAt(earlier)
	second, secondRank := c.ruleAt(later)
	if firstRank == secondRank {
		c.errs.failDuplicate(n, first, second)
	} else {
		c.shadow(n, second, secondRank)
	}
}

// shadow keeps the n-th rule, of a source of that rank, as one that an earlier source's shadows. Or
// it reports that its key stands twice in its own source.
func (c *Compiler) shadow(n int, rule Rule, rank int) {
	key := keyOfSource{rank, string(c.opts.appendKey(nil, rule.Key))}
	if first, twice := c.shadowed.all[key]; twice {
		c.errs.failDuplicate(n, first, rule)
		return
	}
	c.shadowed.keep(key, rule)
}
