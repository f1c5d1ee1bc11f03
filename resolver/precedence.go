package resolver

// NextSource begins a source of lower precedence. Where one of the rules added so far has the key
// of a rule added later, it shadows that rule. Without NextSource all rules are of one source, in
// which a key may stand once. Messages call rules added before it inline rules, where they have no
// line.
func (c *Compiler) NextSource() {
	c.rank++
}

// inlineRank is the place of rules in the precedence that belong to no source.
const inlineRank = 0

// source is where rules come from: its name in positions, and its place in the precedence.
type source struct {
	name string
	rank int
}

// keyOfSource is a canonical key in a source.
type keyOfSource struct {
	rank int
	key  string
}

// shadowed stands for the place of a rule that an earlier one shadows, which has none in the table.
const shadowed = -1

// fillTable gives every rule its place in the table, reports duplicate keys, and returns the number
// of rules that serve.
func (c *Compiler) fillTable() int {
	c.table.slots = makePages[slot](slotsFor(c.added.n))
	rules := 0
	for n, added := range c.added.each() {
		c.opts.pauseAfter(n)
		at, inserted := c.table.insert(added.hash, added.slot)
		if inserted {
			rules++
		} else {
			c.table.forgetKey(c.table.key(added.slot.ref()))
			c.settle(n, c.table.slots.at(at).ref(), added.slot.ref())
			at = shadowed
		}
		if this := added.slot.ref(); this&internalRef != 0 {
			c.internal(this).slot = int32(at)
		}
	}
	return rules
}

// settle reports what becomes of the n-th rule, whose key an earlier one has. Within a source that
// is an error, and of two sources the first one's rule serves.
func (c *Compiler) settle(n int, earlier, later ref) {
	first, firstRank := c.ruleAt(earlier)
	second, secondRank := c.ruleAt(later)
	if firstRank == secondRank {
		c.failDuplicate(n, first, second)
	} else {
		c.shadow(n, second, secondRank)
	}
}

// shadow keeps the n-th rule, of a source of that rank, as one that an earlier source's shadows. Or
// it reports that its key stands twice in its own source.
func (c *Compiler) shadow(n int, rule Rule, rank int) {
	key := keyOfSource{rank, string(c.opts.appendKey(nil, rule.Key))}
	if first, twice := c.shadowed[key]; twice {
		c.failDuplicate(n, first, rule)
		return
	}
	c.keepShadowed(key, rule)
}

// keepShadowed keeps a rule that does not serve, as one of an earlier source shadows it.
func (c *Compiler) keepShadowed(key keyOfSource, rule Rule) {
	if c.shadowed == nil {
		c.shadowed = map[keyOfSource]Rule{}
	}
	c.shadowed[key] = rule
}

// failDuplicate reports that the n-th rule has the key of an earlier one of its source.
func (c *Compiler) failDuplicate(n int, first, second Rule) {
	err := &RuleError{
		Kind:     ErrDuplicateKey,
		Position: second.Position,
		Key:      second.Key,
		First:    first.Position,
		Message:  duplicateMessage(first, second),
	}
	c.report(placedError{err, n})
}

func duplicateMessage(first, second Rule) string {
	message := "the key stands already"
	switch {
	case first.Key == second.Key:
	case IsTemplate(first.Key):
		message = "the key matches the same paths as " + quote(first.Key) + ", which stands already"
	default:
		message = "the key is the same as " + quote(first.Key) + ", which stands already"
	}
	if at := first.Position.String(); at != "" && first.Position.Line > 0 {
		message += " at " + at
	}
	return message + "; remove one of the two rules"
}

// rankOfSource returns the place of a source in the precedence, by its number.
func (c *Compiler) rankOfSource(number int) int { return c.sources.all[number].rank }

// ruleAt returns the rule of an entry as it was added, and the precedence of its source.
func (c *Compiler) ruleAt(at ref) (rule Rule, rank int) {
	if at&internalRef != 0 {
		this := c.internal(at)
		return this.rule, c.rankOfSource(this.source)
	}
	rule, from := c.table.ruleAt(at, c.sources.all)
	return rule, c.rankOfSource(from)
}
