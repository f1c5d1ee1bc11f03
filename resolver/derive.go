package resolver

import (
	"cmp"
	"maps"
	"slices"
)

// derivation makes a ruleset of another one and of changes. What they do not concern, both share:
//
//	changes -> keys, each with the rules that sources have for it -> slots and records
//	        -> chains, if one may lead elsewhere -> warnings, digest, difference
//
//	           slots, in pages           records, in an arena
//	before -> | p0 | p1 | p2 |          | chunk | chunk |
//	next   -> the same, p2 with         | the same      | behind |
//	          one other slot
type derivation struct {
	before *Ruleset
	// changes are the last ones of each key; literal are the canonical keys of those without
	// variables, in their order.
	changes     map[keyOfSource]*RuleChange
	literal     []string
	inTemplates bool // some are of rules with variables
	lastRank    int  // of the sources that they are of
	// read are the warnings of readers of sources that have been read again.
	read map[int][]Warning

	// c compiles what is new into a branch of the table.
	c *Compiler
	// old and now are the rules that serve for a key, as far as it has changed.
	old, now map[string]Rule
	touched  map[int]bool // the slots of these keys
	gone     int          // bytes of records that nothing refers to any more
	taken    int          // slots that are not empty
	followed bool         // chains have been followed again
	next     *Ruleset     // what has been derived
	isAnew   bool         // all rules have been compiled for it
	// ownsShadowed tells that the rules that are shadowed may be changed.
	ownsShadowed bool
	// rewarned are the keys, as they are written, whose rules are warned of anew, replaced those of
	// rules that do not serve any more as they did.
	rewarned, replaced map[string]bool
	keptOfChains       int // warnings of chains that are those of before
}

// derive makes the ruleset.
func (d *derivation) derive(changes []RuleChange) (*Ruleset, Difference, error) {
	d.begin()
	d.collapse(changes)
	d.check()
	if len(d.c.errs) > 0 {
		return nil, Difference{}, d.ruleErrors()
	}
	if !d.before.opts.noLines || !d.hasRoom() {
		return d.compileAnew()
	}
	for _, key := range d.literal {
		d.changeKey(key)
	}
	if d.inTemplates {
		d.changeTemplates()
	}
	if d.followed = d.concernsChains(); d.followed {
		d.c.resetChains()
	}
	err := d.checkRules()
	if err == nil {
		d.finishChains()
		err = d.checkRules()
	}
	switch {
	case d.c.full:
		return d.compileAnew()
	case err != nil:
		return nil, Difference{}, err
	}
	next := d.ruleset()
	return next, d.difference(next), nil
}

// begin makes a compiler that goes on where that of the ruleset before has ended.
func (d *derivation) begin() {
	before := d.before
	d.c = &Compiler{
		opts: before.opts, table: before.table.branch(), templates: before.templates,
		sources: numberedOf(before.sources), warnings: before.warnings.branch(),
		shadowed: before.shadowed, concerns: before.concerns, atSite: before.atSite,
		failures: before.failures, templateFailures: before.templateFailures,
		warningGroup: ofRules,
		extent:       before.extent,
	}
	d.old, d.now = map[string]Rule{}, map[string]Rule{}
	d.touched, d.rewarned, d.replaced = map[int]bool{}, map[string]bool{}, map[string]bool{}
	d.taken = before.taken
	d.keepRead()
}

// keepRead keeps the warnings of the readers of sources.
func (d *derivation) keepRead() {
	warnings := &d.c.warnings
	for rank, read := range d.read {
		d.lastRank = max(d.lastRank, rank)
		for len(warnings.read) <= rank {
			warnings.read = append(warnings.read, nil)
		}
		warnings.read[rank] = read
	}
}

// collapse leaves the last change of each key.
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
			d.inTemplates = true
		case !known[key.key]:
			known[key.key] = true
			d.literal = append(d.literal, key.key)
		}
	}
}

// checkRules returns what is wrong with the rules, or with all of them together.
func (d *derivation) checkRules() error {
	if len(d.c.errs) > 0 {
		return d.ruleErrors()
	}
	return d.c.checkSize()
}

// ruleErrors returns what is wrong with the rules, in the order of their places.
func (d *derivation) ruleErrors() RuleErrors {
	errs := d.c.ruleErrors()
	slices.SortStableFunc(errs, func(a, b *RuleError) int {
		return cmp.Or(cmp.Compare(a.Position.Source, b.Position.Source),
			comparePlaces(a.Position, b.Position))
	})
	return errs
}

// check finds out what is wrong with the rules by themselves.
func (d *derivation) check() {
	for _, change := range d.inOrder() {
		d.c.rank = change.Source
		switch {
		case change.Rule == nil:
		case IsTemplate(change.Rule.Key):
			d.c.templateCompiler().check(*change.Rule)
		default:
			value, err := parseValue(change.Rule.Value)
			d.c.check(*change.Rule, value, err)
		}
	}
}

// inOrder returns the changes in the order of their sources and of their places there.
func (d *derivation) inOrder() []*RuleChange {
	return slices.SortedFunc(maps.Values(d.changes), func(a, b *RuleChange) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), comparePlaces(
			a.rule().Position, b.rule().Position), cmp.Compare(a.rule().Key, b.rule().Key))
	})
}

// rule returns the rule that is set, or one with the key of that which is removed.
func (c *RuleChange) rule() Rule {
	if c.Rule == nil {
		return Rule{Key: c.Key}
	}
	return *c.Rule
}

// hasRoom reports whether the table can take the new keys, and whether this is cheaper than to
// compile all.
func (d *derivation) hasRoom() bool {
	slots := d.before.table.slots.n
	return d.taken+len(d.literal) < slots-slots/8 && len(d.literal) <= d.before.rules/2+64
}

// changeKey changes the rules of a key without variables.
func (d *derivation) changeKey(key string) {
	entry, at := d.before.find(key)
	was := d.rulesBefore(key, entry)
	now := d.rulesNow(key, was)
	d.count(was, now)
	d.shadow(key, was, now)
	d.warnOf(was, now)
	var serving *rankedRule
	if len(now) > 0 {
		serving = &now[0]
		d.now[key] = d.c.opts.placed(serving.rule)
	}
	if entry != 0 {
		d.old[key] = was[0].rule
		if serving != nil && was[0].rank == serving.rank && was[0].rule == d.now[key] {
			return
		}
		d.replaced[was[0].rule.Key] = true
		d.remove(entry, at)
	}
	if serving != nil {
		d.serve(key, *serving)
	}
}

// rulesBefore returns the rules that sources have for a key, the first one serves.
func (d *derivation) rulesBefore(key string, entry slot) (rules []rankedRule) {
	if entry == 0 {
		return nil
	}
	rules = append(rules, rankedRule{d.before.rankAt(entry.ref()), d.before.rule(entry.ref())})
	if len(d.before.shadowed) == 0 {
		return rules
	}
	for rank := rules[0].rank + 1; rank <= d.before.lastRank(); rank++ {
		if rule, is := d.before.shadowed[keyOfSource{rank, key}]; is {
			rules = append(rules, rankedRule{rank, rule})
		}
	}
	return rules
}

// rulesNow returns them with the changes made.
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

// count counts the rules of a key that are new, and no longer those that are gone.
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

// shadow keeps the rules of a key that do not serve.
func (d *derivation) shadow(key string, was, now []rankedRule) {
	if len(was) > 1 || len(now) > 1 {
		d.ownShadowed()
	}
	for _, r := range was[min(1, len(was)):] {
		delete(d.c.shadowed, keyOfSource{r.rank, key})
	}
	for _, r := range now[min(1, len(now)):] {
		d.c.keepShadowed(keyOfSource{r.rank, key}, d.c.opts.placed(r.rule))
		d.c.sources.number(source{r.rule.Position.Source, r.rank})
	}
}

// ownShadowed lets the rules that are shadowed change.
func (d *derivation) ownShadowed() {
	if !d.ownsShadowed {
		d.c.shadowed, d.ownsShadowed = maps.Clone(d.c.shadowed), true
	}
}

// warnOf warns of the rules of a key anew.
func (d *derivation) warnOf(was, now []rankedRule) {
	for _, r := range was {
		d.rewarned[r.rule.Key] = true
	}
	for i, r := range now {
		d.c.rank = r.rank
		value, _ := parseValue(r.rule.Value)
		d.c.warnOfRule(r.rule, value)
		if i > 0 {
			d.c.warnShadowed(r.rule, r.rank, now[0].rule, now[0].rank)
		}
	}
}

// remove takes a rule out of its slot, which stays that of the key.
func (d *derivation) remove(entry slot, at int) {
	d.touched[at] = true
	d.gone += d.c.table.recordSize(entry.ref())
	d.c.table.forgetKey(d.c.table.key(entry.ref()))
	d.c.table.slots.set(at, entry|slotRemoved)
}

// serve compiles a rule and puts it into the slot of its key.
func (d *derivation) serve(key string, r rankedRule) {
	c := d.c
	c.rank, c.key = r.rank, append(c.key[:0], key...)
	value, _ := parseValue(r.rule.Value)
	from := c.sources.number(source{r.rule.Position.Source, r.rank})
	made := c.newRecord(r.rule, value, from)
	c.addLiteral(r.rule, value, &made)
	added := c.added.at(c.added.n - 1)
	at, _ := c.table.insert(added.hash, added.slot)
	if d.before.table.slots.at(at) == 0 {
		d.taken++
	}
	if ref := added.slot.ref(); ref&internalRef != 0 {
		c.internal(ref).slot = int32(at)
	}
	d.touched[at] = true
}

// compileAnew compiles all rules with the changes made.
func (d *derivation) compileAnew() (*Ruleset, Difference, error) {
	next, err := d.before.compileWith(d)
	if err != nil {
		return nil, Difference{}, err
	}
	difference := Compare(d.before, next, namedKeys)
	d.next, d.isAnew, difference.derived = next, true, d
	return next, difference, nil
}
