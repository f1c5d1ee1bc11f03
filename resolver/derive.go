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
type derivation struct {
	before *Ruleset
	// changes are the last ones of each key; literal are the canonical keys of those without
	// variables, in their order.
	changes     map[keyOfSource]*RuleChange
	literal     []string
	inTemplates bool // some are of rules with variables
	lastRank    int  // of the sources that they are of
	// moved are where rules stand now, of before as well.
	moved    moved
	hasMoved bool // rules that stay do not stand where they stood before
	// read are the warnings of readers of sources that have been read again. hasTold tells that they
	// warn of other places than before.
	read    map[int][]Warning
	hasTold bool
	// errs are errors of rules that are known.
	errs []placedError

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
	// ownsShadowed tells that the rules that are shadowed may be changed, rewarned which keys, as they
	// are written, are warned of anew.
	ownsShadowed bool
	rewarned     map[string]bool
}

// derive makes the ruleset.
func (d *derivation) derive(changes []RuleChange) (*Ruleset, Difference, error) {
	d.begin()
	d.collapse(changes)
	d.check()
	if len(d.c.errs) > 0 {
		return nil, Difference{}, d.ruleErrors()
	}
	if !d.hasRoom() {
		return d.compileAnew()
	}
	if d.hasMoved {
		d.addShadowed()
	}
	for _, key := range d.literal {
		d.changeKey(key)
	}
	if d.inTemplates {
		d.changeTemplates()
	}
	if d.concernsChains() {
		d.follow()
	}
	switch {
	case len(d.c.errs) > 0:
		return nil, Difference{}, d.ruleErrors()
	case d.c.full:
		return d.compileAnew()
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
		shadowed: before.shadowed,
		moved:    d.moved, concerns: before.concerns, atSite: before.atSite,
		failures: before.failures, templateFailures: before.templateFailures,
		errs: d.errs, wrong: len(d.errs), warningGroup: ofRules,
		written: before.written, modal: before.modal, stored: before.stored,
	}
	d.old, d.now = map[string]Rule{}, map[string]Rule{}
	d.touched, d.rewarned = map[int]bool{}, map[string]bool{}
	d.taken, d.hasMoved = before.taken, d.moved.changes > 0
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
	d.hasTold = len(d.read) > 0 &&
		!maps.Equal(warnings.toldPlaces(), d.before.warnings.toldPlaces())
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

// ruleErrors returns what is wrong with the rules, in the order of their places.
func (d *derivation) ruleErrors() RuleErrors {
	errs := d.c.ruleErrors()
	slices.SortStableFunc(errs, func(a, b *RuleError) int {
		return cmp.Or(cmp.Compare(a.Position.Source, b.Position.Source),
			comparePlaces(a.Position, b.Position))
	})
	return errs
}

// addShadowed adds the keys of rules that are shadowed: what is warned of them names the place of
// another rule.
func (d *derivation) addShadowed() {
	for key := range d.before.shadowed {
		if !IsTemplate(key.key) {
			d.literal = append(d.literal, key.key)
		}
	}
	slices.Sort(d.literal)
	d.literal = slices.Compact(d.literal)
}

// check finds out what is wrong with the rules by themselves.
func (d *derivation) check() {
	for _, change := range d.inOrder() {
		d.c.rank = change.Source
		switch {
		case change.Rule == nil:
		case IsTemplate(change.Rule.Key):
			d.c.checkTemplate(*change.Rule)
		default:
			value, err := parseValue(change.Rule.Value)
			d.c.check(*change.Rule, value, err)
		}
	}
}

// inOrder returns the changes in the order of [compareRules].
func (d *derivation) inOrder() []*RuleChange {
	return slices.SortedFunc(maps.Values(d.changes), func(a, b *RuleChange) int {
		return compareRules(a.rule(), a.Source, b.rule(), b.Source)
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
		d.now[key] = serving.rule
	}
	if entry != 0 {
		d.old[key] = was[0].rule
		if serving != nil && was[0] == *serving {
			return
		}
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
	rules = append(rules, rankedRule{d.before.rankAt(entry.ref()), d.ruleBefore(entry.ref())})
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

// ruleBefore returns the rule of an entry, where it stands now.
func (d *derivation) ruleBefore(at ref) Rule { return d.before.ruleAt(at, &d.moved) }

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

// count counts what rules say that are gone, and that are new.
func (d *derivation) count(was, now []rankedRule) {
	for _, r := range was {
		d.c.uncount(r.rule)
	}
	for _, r := range now {
		d.c.count(r.rule)
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
		d.c.keepShadowed(keyOfSource{r.rank, key}, r.rule)
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
	d.c.table.slots.set(at, entry|slotRemoved)
	d.moved.set(at, 0)
}

// serve compiles a rule and puts it into the slot of its key.
func (d *derivation) serve(key string, r rankedRule) {
	c := d.c
	c.rank, c.key = r.rank, append(c.key[:0], key...)
	value, _ := parseValue(r.rule.Value)
	c.addLiteral(r.rule, value, c.sources.number(source{r.rule.Position.Source, r.rank}))
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

// changeTemplates makes the rules with variables anew: what one of them is worth depends on the
// others.
func (d *derivation) changeTemplates() {
	c := d.c
	d.ownShadowed()
	for _, t := range d.before.templates.all() {
		c.uncount(t.rule)
		c.stored -= templateSize(t.rule)
		d.keepTemplate(t.rule, d.before.sources[t.source].rank, t.key)
	}
	for key, rule := range d.before.shadowed {
		if IsTemplate(key.key) {
			c.uncount(rule)
			delete(c.shadowed, key)
			c.stored -= templateSize(rule)
			d.keepTemplate(rule, key.rank, key.key)
		}
	}
	for _, change := range d.inOrder() {
		if change.Rule != nil && IsTemplate(change.Rule.Key) {
			d.addTemplate(*change.Rule, change.Source)
		}
	}
	c.enterTemplates()
}

// keepTemplate adds a rule as it was, unless it changes.
func (d *derivation) keepTemplate(rule Rule, rank int, key string) {
	if d.changes[keyOfSource{rank, key}] == nil {
		d.addTemplate(rule, rank)
	}
}

func (d *derivation) addTemplate(rule Rule, rank int) {
	d.c.rank = rank
	d.c.count(rule)
	d.c.addTemplate(rule)
}

// concernsChains reports whether a chain may lead elsewhere, or what else depends on all rules.
func (d *derivation) concernsChains() bool {
	before := d.before
	leads := func(rule Rule) bool { return isInternal(rule.Value) || rule.Value == PassValue }
	for _, key := range d.literal {
		if leads(d.old[key]) || leads(d.now[key]) || before.concerns.hasKey(key) {
			return true
		}
	}
	return d.inTemplates || d.hasTold && len(before.passing) > 0 ||
		d.hasMoved && (len(before.internal) > 0 || len(before.passing) > 0 || before.templates != nil)
}

// follow follows all chains again.
func (d *derivation) follow() {
	d.followed = true
	c := d.c
	for _, at := range d.before.internal {
		if !d.touched[int(at)] {
			d.addChain(int(at))
		}
	}
	for _, at := range d.before.passing {
		if !d.touched[int(at)] {
			c.passing = append(c.passing, c.table.slots.at(int(at)).ref())
		}
	}
	c.atSite, c.warnings.groups[ofChains], c.templateFailures = siteEnds{}, nil, nil
	c.compileChains()
}

// addChain takes a rule with an internal redirect that serves on, whose chain may lead elsewhere.
func (d *derivation) addChain(at int) {
	c := d.c
	entry := c.table.slots.at(at)
	var r record
	r.decode(&c.table.arena, c.table.arena.bytes(entry.ref()))
	rule := d.ruleBefore(entry.ref())
	this := internalRef | ref(c.table.internalRules.n)
	c.table.internalRules.add(internalRule{
		rule: rule, key: r.key, value: newInternalValue(rule.Value), source: r.position.source,
		slot: int32(at), old: entry.ref(),
	})
	c.table.slots.set(at, entry.withRef(this))
}

// ruleset puts the new ruleset together.
func (d *derivation) ruleset() *Ruleset {
	before, c := d.before, d.c
	next := c.ruleset()
	next.lineage, next.taken = before.lineage, d.taken
	next.gone = before.gone + d.gone + c.replaced
	next.rules = before.rules + d.counted()
	if !d.followed {
		next.internal, next.passing = before.internal, before.passing
	}
	next.warnings.groups[ofRules] = d.warningsOfRules()
	next.moved = d.moved
	next.numberTemplates(before)
	if next.opts.digest {
		d.sumUp(next)
		next.digest = next.digestOfSum()
	}
	if next.opts.reverse {
		next.reverse = before.reverse.reverseOf(next, d.changedSlots(next))
	}
	return next
}

// changedSlots returns the slots whose records are others than before.
func (d *derivation) changedSlots(next *Ruleset) []int {
	slots := slices.Collect(maps.Keys(d.touched))
	if !d.followed {
		return slots
	}
	for _, slot := range next.internal {
		at := int(slot)
		if !d.touched[at] && d.before.table.slots.at(at).ref() != next.table.slots.at(at).ref() {
			slots = append(slots, at)
		}
	}
	return slots
}

// counted returns how many rules more serve than before.
func (d *derivation) counted() int {
	return len(d.now) - len(d.old) + len(d.c.templates.all()) - len(d.before.templates.all())
}

// sumUp makes the sum that the digest is of.
func (d *derivation) sumUp(next *Ruleset) {
	next.sum = d.before.sum
	for _, rule := range d.old {
		next.sum.remove(rule)
	}
	for _, rule := range d.now {
		next.sum.add(rule)
	}
	if !d.inTemplates {
		return
	}
	for _, t := range d.before.templates.all() {
		next.sum.remove(t.rule)
	}
	for _, t := range next.templates.all() {
		next.sum.add(t.rule)
	}
}

// warningsOfRules returns those of rules without variables, at the places where they stand now.
func (d *derivation) warningsOfRules() []rankedWarning {
	before, added := d.before.warnings.groups[ofRules], d.c.warnings.groups[ofRules]
	all := make([]rankedWarning, 0, len(before)+len(added))
	for _, w := range before {
		switch {
		case d.rewarned[w.Key]:
			continue
		case d.hasMoved:
			w.Position = d.ruleBefore(d.before.entryOf(d.before.opts.canonicalKey(w.Key))).Position
		}
		all = append(all, w)
	}
	return append(all, added...)
}

// difference returns what changes.
func (d *derivation) difference(next *Ruleset) Difference {
	changed := newChangedKeys(namedKeys)
	for key, rule := range d.now {
		if was, is := d.old[key]; !is {
			changed.added.add(rule)
		} else if !sameContent(was, rule) {
			changed.changed.add(rule)
		}
	}
	for key, rule := range d.old {
		if _, is := d.now[key]; !is {
			changed.removed.add(rule)
		}
	}
	difference := changed.difference(d.before, next, d.newWarnings())
	d.next, difference.derived = next, d
	return difference
}

// newWarnings returns those that the ruleset before does not have. There can be very many, so that
// those which have been taken over are not looked at.
func (d *derivation) newWarnings() []Warning {
	made := warningList{}
	made.groups[ofRules] = d.c.warnings.groups[ofRules]
	if d.inTemplates {
		made.groups[ofTemplates] = d.c.warnings.groups[ofTemplates]
	}
	if d.followed {
		made.groups[ofChains] = d.c.warnings.groups[ofChains]
	}
	if d.read != nil {
		made.read = d.c.warnings.read
	}
	return newWarnings(d.before, made.list())
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

// readWarnings returns those of the reader of a source.
func (d *derivation) readWarnings(rank int) []Warning {
	if read, again := d.read[rank]; again {
		return read
	}
	if all := d.before.warnings.read; rank < len(all) {
		return all[rank]
	}
	return nil
}
