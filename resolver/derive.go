package resolver

import (
	"cmp"
	"maps"
	"slices"
)

// RuleChange sets or removes a rule of a source.
type RuleChange struct {
	// Source is the n-th that [Compiler.NextSource] began, or 0 for what came before.
	Source int
	// Key is the key of a rule to remove, in any spelling. A rule to set has its own.
	Key string
	// Rule is the new rule for the key, nil for none.
	Rule *Rule
}

// rule returns the rule to set, or one with the key to remove.
func (c *RuleChange) rule() Rule {
	if c.Rule == nil {
		return Rule{Key: c.Key}
	}
	return *c.Rule
}

// derivation makes a ruleset from another one and a list of changes. Both share what did not
// change:
//
//	changes -> keys, each with the rules that sources have for it -> the stages of compiling
//	        -> difference
//
//	           slots, in pages           records, in an arena
//	before -> | p0 | p1 | p2 |          | chunk | chunk |
//	next   -> the same, p2 with         | the same      | behind |
//	          one other slot
type derivation struct {
	before *Ruleset
	// changes are the last ones of each key. literal are the canonical keys of those without
	// variables, in order.
	changes  map[keyOfSource]*RuleChange
	literal  []string
	lastRank int // of the sources that they are of

	// c compiles what is new. It continues from the ruleset before.
	c *Compiler
	// old and now are the rules that serve for changed keys.
	old, now map[string]Rule
}

// derive makes the ruleset.
func (d *derivation) derive(changes []RuleChange) (*Ruleset, Difference, error) {
	d.begin()
	d.collapse(changes)
	d.check()
	if d.c.errs.count > 0 {
		return nil, Difference{}, sortByPlace(d.c.errs.inOrder())
	}
	if !d.before.opts.noLines || !d.hasRoom() {
		return d.compileAnew()
	}
	for _, key := range d.literal {
		d.changeKey(key)
	}
	if d.c.changed&scopeTemplates != 0 {
		d.changeTemplates()
	}
	if d.concernsChains() {
		d.c.changed |= scopeChains
	}
	next, err := d.c.Compile()
	if d.c.table.arena.full {
		return d.compileAnew()
	}
	if errs, is := err.(RuleErrors); is {
		err = sortByPlace(errs)
	}
	if err != nil {
		return nil, Difference{}, err
	}
	return next, d.difference(next), nil
}

// begin makes a compiler that continues from the ruleset before.
func (d *derivation) begin() {
	d.c = d.before.compiler()
	d.c.changed = scopeRules
	d.old, d.now = map[string]Rule{}, map[string]Rule{}
}

// collapse keeps only the last change of each key.
func (d *derivation) collapse(changes []RuleChange) {
	d.changes = make(map[keyOfSource]*RuleChange, len(changes))
	known := make(map[string]bool, len(changes))
	for i := range changes {
		change := &changes[i]
		written := change.rule().Key
		key := keyOfSource{change.Source, d.before.opts.canonicalKey(written)}
		d.changes[key] = change
		d.lastRank = max(d.lastRank, key.rank)
		switch {
		case IsTemplate(written):
			d.c.changed |= scopeTemplates
		case !known[key.key]:
			known[key.key] = true
			d.literal = append(d.literal, key.key)
		}
	}
}

// sortByPlace sorts errors by their places.
func sortByPlace(errs RuleErrors) RuleErrors {
	slices.SortStableFunc(errs, func(a, b *RuleError) int {
		return cmp.Or(cmp.Compare(a.Position.Source, b.Position.Source),
			a.Position.ComparePlace(b.Position))
	})
	return errs
}

// check checks the rules by themselves.
func (d *derivation) check() {
	for _, change := range d.inOrder() {
		d.c.rank = change.Source
		if change.Rule != nil {
			d.c.Check(*change.Rule)
		}
	}
}

// inOrder returns the changes sorted by their sources and by their places there.
func (d *derivation) inOrder() []*RuleChange {
	return slices.SortedFunc(maps.Values(d.changes), func(a, b *RuleChange) int {
		this, other := a.rule(), b.rule()
		return cmp.Or(cmp.Compare(a.Source, b.Source),
			this.Position.ComparePlace(other.Position), cmp.Compare(this.Key, other.Key))
	})
}

// hasRoom reports whether the table has room for the new keys, and whether this is cheaper than
// compiling all rules.
func (d *derivation) hasRoom() bool {
	before := &d.before.table
	return before.hasRoom(len(d.literal)) && len(d.literal) <= d.before.Len()/2+64
}

// changeKey changes the rules of a key without variables.
func (d *derivation) changeKey(key string) {
	entry, at := d.before.find(key)
	was := d.rulesBefore(key, entry)
	now := d.rulesNow(key, was)
	d.count(was, now)
	d.shadow(key, was, now)
	var old, next rankedRule
	had, has := len(was) > 0, len(now) > 0
	if had {
		old = was[0]
		d.old[key] = old.rule
	}
	if has {
		next = rankedRule{now[0].rank, d.c.opts.placed(now[0].rule)}
		d.now[key] = next.rule
	}
	if had && has && old == next {
		return
	}
	if had {
		d.remove(old.rule, at)
	}
	if has {
		d.serve(key, now[0])
	}
}

// rulesBefore returns the rules that sources have for a key. The first one serves.
func (d *derivation) rulesBefore(key string, entry slot) (rules []rankedRule) {
	if entry == 0 {
		return nil
	}
	rules = append(rules, rankedRule{d.before.rankAt(entry.ref()), d.before.rule(entry.ref())})
	if len(d.before.shadowed.all) == 0 {
		return rules
	}
	for rank := rules[0].rank + 1; rank <= d.before.lastRank(); rank++ {
		if rule, is := d.before.shadowed.all[keyOfSource{rank, key}]; is {
			rules = append(rules, rankedRule{rank, rule})
		}
	}
	return rules
}

// rulesNow returns these rules with the changes.
func (d *derivation) rulesNow(key string, was []rankedRule) (now []rankedRule) {
	for _, r := range was {
		if d.changes[keyOfSource{r.rank, key}] == nil {
			now = append(now, r)
		}
	}
	for rank := range d.lastRank + 1 {
		if change := d.changes[keyOfSource{rank, key}]; change != nil && change.Rule != nil {
			now = append(now, rankedRule{rank, *change.Rule})
		}
	}
	slices.SortFunc(now, func(a, b rankedRule) int { return cmp.Compare(a.rank, b.rank) })
	return now
}

// count adds a key's new rules to the totals and subtracts its old ones.
func (d *derivation) count(was, now []rankedRule) {
	for _, r := range was {
		d.c.uncount(r.rule)
		d.c.extent.addLiteral(r.rule, -1)
	}
	for _, r := range now {
		d.c.count(r.rule)
		d.c.extent.addLiteral(r.rule, 1)
	}
}

// shadow keeps the rules for a key that do not serve.
func (d *derivation) shadow(key string, was, now []rankedRule) {
	for _, r := range was[min(1, len(was)):] {
		d.c.shadowed.forget(keyOfSource{r.rank, key})
	}
	for _, r := range now[min(1, len(now)):] {
		d.c.shadowed.keep(keyOfSource{r.rank, key}, d.c.opts.placed(r.rule))
		d.c.sources.number(source{r.rule.Position.Source, r.rank})
	}
}

// remove removes a rule that served from its slot.
func (d *derivation) remove(rule Rule, at int) {
	d.c.table.remove(at)
	if d.c.opts.digest {
		d.c.digest.literals.Remove(rule)
	}
}

// serve adds a rule that did not serve before.
func (d *derivation) serve(key string, r rankedRule) {
	c := d.c
	c.rank, c.key = r.rank, append(c.key[:0], key...)
	value, _ := parseValue(r.rule.Value)
	c.addLiteral(r.rule, value)
	if c.opts.digest {
		c.digest.literals.Add(r.rule)
	}
}

// compileAnew compiles all rules with the changes.
func (d *derivation) compileAnew() (*Ruleset, Difference, error) {
	next, err := d.compileAll()
	if err != nil {
		return nil, Difference{}, err
	}
	return next, Compare(d.before, next, namedKeys), nil
}

// changeTemplates compiles all rules with variables again, because the order of one depends on the
// others.
func (d *derivation) changeTemplates() {
	c := d.c
	for i, t := range d.before.templates.each() {
		c.uncount(t.rule)
		c.extent.compiled -= templateSize(t.rule)
		d.keepTemplate(t.rule, t.rank, d.before.templates.key(i))
	}
	for key, rule := range d.before.shadowed.all {
		if IsTemplate(key.key) {
			c.uncount(rule)
			c.shadowed.forget(key)
			c.extent.compiled -= templateSize(rule)
			d.keepTemplate(rule, key.rank, key.key)
		}
	}
	for _, change := range d.inOrder() {
		if change.Rule != nil && IsTemplate(change.Rule.Key) {
			d.addTemplate(*change.Rule, change.Source)
		}
	}
}

// keepTemplate adds a rule of the ruleset before, unless it has changed.
func (d *derivation) keepTemplate(rule Rule, rank int, key string) {
	if d.changes[keyOfSource{rank, key}] == nil {
		d.addTemplate(rule, rank)
	}
}

func (d *derivation) addTemplate(rule Rule, rank int) {
	d.c.rank = rank
	d.c.count(rule)
	d.c.templateCompiler().add(rule)
}

// concernsChains reports whether a chain may lead elsewhere now.
func (d *derivation) concernsChains() bool {
	before := d.before
	for _, key := range d.literal {
		isChain := isInternal(d.old[key].Value) || isInternal(d.now[key].Value)
		if isChain || before.chains.concerns.hasKey(key) {
			return true
		}
	}
	return d.c.changed&scopeTemplates != 0 || d.c.isExceeded() || before.opts.modes != (d.c.modal > 0)
}

// compileAll compiles the rules of the ruleset before, with the changes.
func (d *derivation) compileAll() (*Ruleset, error) {
	rs := d.before
	c := newCompiler(rs.opts)
	c.opts.noLines, c.opts.given.NoLines = true, true
	changes := d.inOrder()
	for rank := range max(rs.lastRank(), d.lastRank) + 1 {
		c.rank = rank
		for rule := range rs.RulesOf(rank) {
			if d.changes[keyOfSource{rank, rs.opts.canonicalKey(rule.Key)}] == nil {
				c.Add(rule)
			}
		}
		for ; len(changes) > 0 && changes[0].Source == rank; changes = changes[1:] {
			if rule := changes[0].Rule; rule != nil {
				c.Add(*rule)
			}
		}
	}
	return c.Compile()
}
