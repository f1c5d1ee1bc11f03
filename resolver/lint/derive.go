package lint

import (
	"cmp"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Derive returns the list of next, a ruleset that was derived from before by changes; l is the list
// of before. Warnings of changed rules are replaced. All others are those of the last compilation.
// read are the warnings of sources' readers that have read again. fresh are the new warnings.
func (l *List) Derive(
	before, next *resolver.Ruleset, changes []resolver.RuleChange, read map[int][]Warning,
) (derived *List, fresh []Warning) {
	derived = &List{
		options: l.options, pages: l.pages, groups: l.groups, read: slices.Clone(l.read),
	}
	for source, warnings := range read {
		derived.haveRead(source)
		derived.read[source] = warnings
	}
	if !next.SharesNumbers(before) { // it had to be compiled
		derived = derived.anew(next)
		return derived, derived.Since(l)
	}
	d := derivation{
		before: before, next: next,
		made: &List{options: l.options, pages: l.pages, read: derived.read},
		gone: map[string]bool{}, replaced: map[string]bool{},
	}
	d.lint(changes)
	d.merge(derived)
	if read == nil {
		d.made.read = nil
	}
	return derived, d.made.Since(l)
}

// anew returns the list of a ruleset, with the same pages and the same warnings of readers.
func (l *List) anew(rs *resolver.Ruleset) *List {
	list := New(l.options).WithPages(l.pages)
	list.read = l.read
	list.addAll(rs)
	return list
}

// derivation examines the rules that have changed.
type derivation struct {
	before, next *resolver.Ruleset
	made         *List // the warnings of these rules
	// Sets of keys as they are written: gone are those of rules that are examined again, replaced
	// those of rules that no longer serve as before.
	gone, replaced map[string]bool
	internal       []int        // the numbers of internal redirects that newly serve
	templates      map[int]bool // those of rules with variables, nil where none has changed
}

type keyOfSource struct {
	source int
	key    string // canonical
}

// lint examines all rules for the keys that have changed.
func (d *derivation) lint(changes []resolver.RuleChange) {
	changed := map[keyOfSource]*resolver.Rule{}
	known := map[string]bool{}
	var keys []string
	for _, change := range changes {
		written := change.Key
		if change.Rule != nil {
			written = change.Rule.Key
		}
		key := resolver.CanonicalKey(written, d.made.options.FoldCase)
		if changed[keyOfSource{change.Source, key}] = change.Rule; !known[key] {
			known[key] = true
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		was, now := rulesFor(d.before, key), rulesFor(d.next, key)
		servesOn := len(was) > 0 && len(now) > 0 && was[0] == now[0]
		for i, this := range now {
			if rule := changed[keyOfSource{this.source, key}]; rule != nil {
				now[i].rule.Position = rule.Position // as what serves has no lines
			}
		}
		if !servesOn {
			d.noteServing(key, was, now)
		}
		d.lintKey(was, now)
	}
	slices.SortFunc(d.internal, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.next.SourceOf(a), d.next.SourceOf(b)),
			cmp.Compare(d.next.KeyOf(a), d.next.KeyOf(b)))
	})
	d.lintTogether()
}

// rulesFor returns the rules that sources have for a canonical key. The first one serves.
func rulesFor(rs *resolver.Ruleset, key string) (rules []sourcedRule) {
	for source := range rs.Sources() {
		if rule, ok := rs.RuleOf(source, key); ok {
			rules = append(rules, sourcedRule{source, rule})
		}
	}
	return rules
}

// noteServing records what to examine, because another rule serves for a key now.
func (d *derivation) noteServing(key string, was, now []sourcedRule) {
	if resolver.IsTemplate(key) && d.templates == nil {
		d.templates = map[int]bool{}
	}
	if len(was) > 0 {
		d.replaced[was[0].rule.Key] = true
	}
	if len(now) == 0 {
		return
	}
	number, _ := d.next.NumberOf(key)
	switch value := now[0].rule.Value; {
	case resolver.IsTemplate(key):
		d.templates[number] = true
	case isInternal(value):
		d.internal = append(d.internal, number)
	case value == resolver.PassValue:
		d.made.passing = append(d.made.passing, now[0])
	}
}

// lintKey examines the rules for a key by themselves.
func (d *derivation) lintKey(was, now []sourcedRule) {
	for _, this := range was {
		d.gone[this.rule.Key] = true
	}
	for i, this := range now {
		for _, w := range lintRule(this.rule, d.made.options.Query) {
			d.made.add(ofRules, this.source, w)
		}
		if i > 0 {
			d.made.addShadowed(this, now[0])
		}
	}
}

// lintTogether examines where the rules lead that serve newly.
func (d *derivation) lintTogether() {
	s := newSurvey(d.next)
	s.addChains(d.made, d.internal)
	if d.templates != nil {
		d.made.addTies(d.next)
		s.addTemplateFailures(d.made, func(number int) bool { return d.templates[number] })
	}
	s.addIdlePasses(d.made)
}

// merge replaces the warnings that are gone with the new ones.
func (d *derivation) merge(list *List) {
	kept := func(from group, gone map[string]bool) []sourcedWarning {
		isGone := func(w sourcedWarning) bool { return gone[w.Key] }
		return slices.DeleteFunc(slices.Clone(list.groups[from]), isGone)
	}
	list.groups[ofRules] = append(kept(ofRules, d.gone), d.made.groups[ofRules]...)
	list.groups[ofChains] = append(kept(ofChains, d.replaced), d.made.groups[ofChains]...)
	if d.templates != nil {
		list.groups[ofTies] = d.made.groups[ofTies]
	}
}
