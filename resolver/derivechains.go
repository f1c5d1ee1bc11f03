package resolver

import "slices"

// changeTemplates makes the rules with variables anew: what one of them is worth depends on the
// others.
func (d *derivation) changeTemplates() {
	c := d.c
	d.ownShadowed()
	for i, t := range d.before.templates.each() {
		c.uncount(t.rule)
		c.compiled -= templateSize(t.rule)
		d.keepTemplate(t.rule, t.rank, d.before.templates.key(i))
	}
	for key, rule := range d.before.shadowed {
		if IsTemplate(key.key) {
			c.uncount(rule)
			delete(c.shadowed, key)
			c.compiled -= templateSize(rule)
			d.keepTemplate(rule, key.rank, key.key)
		}
	}
	for _, change := range d.inOrder() {
		if change.Rule != nil && IsTemplate(change.Rule.Key) {
			d.addTemplate(*change.Rule, change.Source)
		}
	}
	c.templateCompiler().compile()
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
	d.c.templateCompiler().add(rule)
}

// concernsChains reports whether a chain may lead elsewhere.
func (d *derivation) concernsChains() bool {
	before := d.before
	for _, key := range d.literal {
		if isInternal(d.old[key].Value) || isInternal(d.now[key].Value) || before.concerns.hasKey(key) {
			return true
		}
	}
	return d.inTemplates || d.c.isExceeded() || before.opts.modes != (d.c.modal > 0)
}

// finishChains follows the chains, if one may lead elsewhere, and warns of what depends on all
// rules: of those that have changed alone.
func (d *derivation) finishChains() {
	c := d.c
	kept := slices.DeleteFunc(slices.Clone(d.before.warnings.groups[ofChains]), d.isObsolete)
	c.warnings.groups[ofChains], d.keptOfChains = kept, len(kept)
	if d.followed {
		d.follow()
		return
	}
	c.warningGroup = ofChains
	c.orderPasses()
	c.warnOfIdlePasses()
}

// isObsolete reports whether a warning of what depends on all rules is of one that has changed.
// Where chains are followed, those of all templates are looked at again.
func (d *derivation) isObsolete(w rankedWarning) bool {
	return d.replaced[w.Key] || d.followed && IsTemplate(w.Key)
}

// follow follows all chains again.
func (d *derivation) follow() {
	c := d.c
	for _, at := range d.before.internal {
		if !d.touched[int(at)] {
			d.addChain(int(at))
		}
	}
	c.atSite, c.templateFailures = siteEnds{}, nil
	c.compileChains()
}

// addChain takes a rule with an internal redirect that serves on, whose chain may lead elsewhere.
func (d *derivation) addChain(at int) {
	c := d.c
	entry := c.table.slots.at(at)
	var r record
	r.decode(&c.table.arena, c.table.arena.bytes(entry.ref()))
	rule := d.before.rule(entry.ref())
	this := internalRef | ref(c.table.internalRules.n)
	c.table.internalRules.add(internalRule{
		rule: rule, key: r.key, value: newInternalValue(rule.Value), source: r.position.source,
		slot: int32(at), old: entry.ref(),
	})
	c.table.slots.set(at, entry.withRef(this))
}
