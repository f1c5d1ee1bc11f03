package resolver

import "slices"

// stage is a step of compiling. Deriving a ruleset runs the same stages, but only those in whose
// scope something has changed.
type stage struct {
	name  string
	scope scope
	do    func(*Compiler) // nil for a check
}

// isCheck reports whether compiling ends here if anything is wrong.
func (s *stage) isCheck() bool { return s.do == nil }

// stages returns all stages in their order.
func stages() []stage {
	check := stage{"check", scopeRules, nil}
	return []stage{
		// The size of the table depends on the number of rules. Later stages look rules up in it.
		{"table", scopeRules, (*Compiler).fillTable},
		// Which of two templates is better depends on all of them. Their duplicate keys are reported
		// together with those of the table.
		{"templates", scopeTemplates, (*Compiler).compileTemplates},
		// A chain may lead through any rule, so chains of rules that have not changed are followed
		// again. The memory counted for chains is reset here, so the next check does not include it.
		{"internal rules", scopeChains, (*Compiler).gatherInternalRules},
		// Chains through invalid rules would cause further errors that are no mistakes of an author.
		check,
		// Following chains adds to what they depend on.
		{"concerns", scopeChains, (*Compiler).beginConcerns},
		{"chain ends", scopeChains, (*Compiler).findChainEnds},
		// These chains begin with a template, and lead through rules whose ends are known.
		{"template chains", scopeChains, (*Compiler).findTemplateFailures},
		// Only chains that are not too long get records.
		check,
		// From here on the table has no internal rules, only records.
		{"records", scopeChains, (*Compiler).storeInternalRules},
		// Only records tell how much memory chains take.
		check,
		// The stages from here on cannot fail, and need the rules as they will serve.
		{"memory", scopeAll, (*Compiler).trim},
		{"numbers", scopeTemplates, (*Compiler).numberTemplates},
		{"sum of rules", scopeAll, (*Compiler).sumRules},
		{"sum of templates", scopeTemplates, (*Compiler).sumTemplates},
		{"digest", scopeRules, (*Compiler).makeDigest},
		// An inspection sees the ruleset as it will serve, but with the lines of its rules.
		{"inspection", scopeAll, (*Compiler).beInspected},
		{"lines", scopeRules, (*Compiler).dropLines},
	}
}

// stages returns the stages that work on rules in a scope.
func (s scope) stages() []stage {
	return slices.DeleteFunc(stages(), func(one stage) bool { return one.scope&s == 0 })
}

// Compile makes a ruleset from rules. The error is an [OptionErrors], or one of [Compiler.Compile].
func Compile(rules []Rule, opts Options) (*Ruleset, error) {
	c, err := NewCompiler(opts)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		c.Add(rule)
	}
	return c.Compile()
}

// Compile makes a ruleset from the rules that were added. The error is ErrTooLarge or of type
// [RuleErrors]. It has the errors of the rules by themselves or, if there are none, of their
// chains: at most 10,000 errors, in the order in which rules were added. A loop is no error. The
// compiler cannot be used again.
func (c *Compiler) Compile() (*Ruleset, error) {
	if c.table.arena.full {
		return nil, c.checkSize()
	}
	for _, stage := range c.changed.stages() {
		if !stage.isCheck() {
			stage.do(c)
		} else if err := c.checkRules(); err != nil {
			return nil, err
		}
	}
	return c.next, nil
}

// checkRules returns the errors of the rules found so far, or that all rules together are too
// large.
func (c *Compiler) checkRules() error {
	if c.errs.count > 0 {
		return c.errs.inOrder()
	}
	return c.checkSize()
}

// fillTable gives each rule its place in the table, and reports duplicate keys.
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

// settle handles the n-th rule, whose key an earlier rule has. If both are of one source, that is
// an error; otherwise the rule is shadowed.
func (c *Compiler) settle(n int, earlier, later ref) {
	first, firstRank := c.ruleAt(earlier)
	second, secondRank := c.ruleAt(later)
	if firstRank == secondRank {
		c.errs.failDuplicate(n, first, second)
	} else {
		c.shadow(n, second, secondRank)
	}
}

// shadow records that an earlier source's rule hides the n-th rule. If the rule's own source
// already has the key, it reports a duplicate instead.
func (c *Compiler) shadow(n int, rule Rule, rank int) {
	key := keyOfSource{rank, string(c.opts.appendKey(nil, rule.Key))}
	if first, twice := c.shadowed.all[key]; twice {
		c.errs.failDuplicate(n, first, rule)
		return
	}
	c.shadowed.keep(key, rule)
}

// trim frees memory that is only needed while rules are added.
func (c *Compiler) trim() {
	c.added = pieces[addedRule]{}
	c.table.arena.trim()
}

// dropLines removes lines from the positions that are kept outside records, if the options say so.
// No later stage reports errors, which would need them.
func (c *Compiler) dropLines() {
	if !c.opts.noLines {
		return
	}
	if c.changed&scopeTemplates != 0 && c.templates != nil {
		c.templates.opts.noLines = true
	}
	if c.shadowed.isOwn {
		for key, rule := range c.shadowed.all {
			c.shadowed.all[key] = c.opts.placed(rule)
		}
	}
	c.chains.atSite.first = c.opts.placed(c.chains.atSite.first)
}

// numberTemplates gives numbers to templates.
func (c *Compiler) numberTemplates() { c.numbers.assign(c.templates) }

// beInspected passes the ruleset to the function of Inspect.
func (c *Compiler) beInspected() {
	if c.inspect == nil {
		return
	}
	noLines := c.opts.noLines
	c.opts.noLines = false
	c.inspect(c.next)
	c.opts.noLines = noLines
}
