package resolver

import "slices"

// warnOfIdlePasses warns of keys without variables that pass, where nothing shorter takes what they
// let pass: without them nothing would change. Those that a reader has told of are known: of rules
// without a line that is taken for told as soon as their reader tells anything.
func (c *Compiler) warnOfIdlePasses() {
	told := c.warnings.toldPlaces()
	for n, at := range c.passing {
		c.opts.pauseAfter(n)
		rule, rank := c.ruleAt(at)
		isTold := told[rule.Position] || rule.Position.Line == 0 && c.warnings.isRead(rank)
		if !isTold && !c.shadows(at, rank) && !c.isCovered(at) {
			c.warnAbout(rule, rank, Warning{Kind: WarnNoEffect, Message: "the rule has no effect, as " +
				"no shorter key takes the requests that it lets pass; remove it"})
		}
	}
}

// orderPasses leaves those keys that pass and serve, in the order of [options.compareRules].
func (c *Compiler) orderPasses() {
	c.passing = slices.DeleteFunc(c.passing, func(at ref) bool { return !c.serves(at) })
	compare := func(a, b ref) int {
		first, firstRank := c.ruleAt(a)
		second, secondRank := c.ruleAt(b)
		return c.opts.compareRules(first, firstRank, second, secondRank)
	}
	if !slices.IsSortedFunc(c.passing, compare) {
		slices.SortFunc(c.passing, compare)
	}
}

// serves reports whether no rule of an earlier source shadows that of an entry.
func (c *Compiler) serves(at ref) bool {
	key := c.table.key(at)
	hash, _ := keyHash(c.table.seed, key)
	entry, _ := c.table.lookup(hash, key, len(key), true)
	return entry.ref() == at
}

// shadows reports whether the rule of an entry shadows one of a later source.
func (c *Compiler) shadows(at ref, rank int) bool {
	if len(c.shadowed) == 0 {
		return false
	}
	return slices.ContainsFunc(c.sources.all, func(s source) bool {
		_, is := c.shadowed[keyOfSource{s.rank, c.table.key(at)}]
		return is && s.rank > rank
	})
}

// isCovered reports whether a shorter key or a template takes the path of an entry, or what is
// below it, and does not let it pass, too.
func (c *Compiler) isCovered(at ref) bool {
	key := c.table.key(at)
	shorter, _ := c.table.longest(key, window{1, len(key) - 1})
	if shorter.slot != 0 && c.table.outcomeOf(shorter.slot.ref()) != PassValue {
		return true
	}
	return c.isTemplated("/"+key) || c.isTemplated("/"+key+"/"+anySegment)
}

// isTemplated reports whether a template matches a path, and does not let it pass.
func (c *Compiler) isTemplated(path string) bool {
	if c.templates == nil {
		return false
	}
	best, _ := c.templates.search(path)
	return best.rule > 0 && c.templates.value(int(best.rule)-1).outcome != PassValue
}
