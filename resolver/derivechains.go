package resolver

import "slices"

// changeTemplates makes the rules with variables anew: what one of them is worth depends on the
// others.
func (d *derivation) changeTemplates() {
	c := d.c
	for _, t := range d.before.templates.all() {
		c.uncount(t.rule)
		c.extent.compiled -= templateSize(t.rule)
		d.keepTemplate(t.rule, d.before.rankOfSource(t.source), t.Key())
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

// concernsChains reports whether a chain may lead elsewhere.
func (d *derivation) concernsChains() bool {
	before := d.before
	for _, key := range d.literal {
		if isInternal(d.old[key].Value) || isInternal(d.now[key].Value) || before.chains.concerns.hasKey(key) {
			return true
		}
	}
	return d.c.changed&scopeTemplates != 0 || d.c.isExceeded() || before.opts.modes != (d.c.modal > 0)
}

// keepWarningsOfChains keeps the warnings of what depends on all rules, but for those that are
// warned of again.
func (d *derivation) keepWarningsOfChains() {
	kept := slices.DeleteFunc(slices.Clone(d.before.warnings.groups[ofChains]), d.isObsolete)
	d.c.warnings.groups[ofChains], d.keptOfChains = kept, len(kept)
}

// isObsolete reports whether a warning of what depends on all rules is of one that has changed.
// Where chains are followed, those of all templates are looked at again.
func (d *derivation) isObsolete(w rankedWarning) bool {
	return d.replaced[w.Key] || d.c.changed&scopeChains != 0 && IsTemplate(w.Key)
}
