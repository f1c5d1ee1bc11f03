package resolver

// stage is a step of compiling. It is left out where nothing in its scope has changed: deriving a
// ruleset runs the same stages over less.
type stage struct {
	name  string
	scope scope
	do    func(*Compiler)
}

// stages returns the stages in their order. At a "check" it ends if anything is wrong.
func stages() []stage {
	check := stage{"check", scopeRules, nil}
	return []stage{
		// How large the table is depends on the number of rules. Later stages look rules up in it.
		{"table", scopeRules, (*Compiler).fillTable},
		// Which of two templates is better depends on all of them. Keys that stand twice are told
		// together with those of the table.
		{"templates", scopeTemplates, (*Compiler).compileTemplates},
		// A chain may lead through any rule, so chains of rules that have not changed are followed
		// again. What they take is counted anew, and nothing of it counts at the next check.
		{"internal rules", scopeChains, (*Compiler).gatherInternalRules},
		// Chains through bad rules would lead to errors that their authors did not make.
		check,
		{"chain ends", scopeChains, (*Compiler).findChainEnds},
		// These chains begin with a template, and lead through rules whose ends are known.
		{"template chains", scopeChains, (*Compiler).findTemplateFailures},
		// Records are made of chains that are not too long.
		check,
		{"concerns", scopeChains, (*Compiler).findConcerns},
		// From here on the table has no internal rules, only records.
		{"records", scopeChains, (*Compiler).storeInternalRules},
		// Only records tell how much memory chains take.
		check,
		// What follows cannot fail, and needs the rules as they serve.
		{"memory", scopeAll, (*Compiler).trim},
		{"numbers", scopeTemplates, (*Compiler).numberTemplates},
		{"sum of rules", scopeAll, (*Compiler).sumRules},
		{"sum of templates", scopeTemplates, (*Compiler).sumTemplates},
		{"digest", scopeRules, (*Compiler).makeDigest},
		// Who inspects the ruleset sees it as it will serve, but with the lines of its rules.
		{"inspection", scopeAll, (*Compiler).beInspected},
		{"lines", scopeRules, (*Compiler).dropLines},
	}
}

// Compile makes a ruleset of rules. The error holds everything that is wrong with options (as
// [OptionErrors]) or rules (as [RuleErrors]).
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

// Compile makes a ruleset of the rules added. The error, of type [RuleErrors], holds everything
// that is wrong with them (of more than 10,000 errors that many), in the order in which they were
// added, or it is ErrTooLarge; a ruleset with loops is no error. The compiler cannot be used again.
func (c *Compiler) Compile() (*Ruleset, error) {
	if c.table.arena.full {
		return nil, c.checkSize()
	}
	for _, stage := range stages() {
		if stage.scope&c.changed == 0 {
			continue
		}
		if stage.do != nil {
			stage.do(c)
		} else if err := c.checkRules(); err != nil {
			return nil, err
		}
	}
	return c.next, nil
}

// checkRules returns what is wrong with the rules, or with all of them together.
func (c *Compiler) checkRules() error {
	if c.errs.count > 0 {
		return c.errs.inOrder()
	}
	return c.checkSize()
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

// trim frees memory that only adding rules takes.
func (c *Compiler) trim() {
	c.added = pieces[addedRule]{}
	c.table.arena.trim()
}

// dropLines leaves lines out of the positions that are kept beside records, if the options say so.
// Nothing is found to be wrong any more.
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

// numberTemplates gives templates their numbers.
func (c *Compiler) numberTemplates() { c.numbers.assign(c.templates) }

// beInspected shows the ruleset to whoever wants to look at it.
func (c *Compiler) beInspected() {
	if c.inspect == nil {
		return
	}
	noLines := c.opts.noLines
	c.opts.noLines = false
	c.inspect(c.next)
	c.opts.noLines = noLines
}
