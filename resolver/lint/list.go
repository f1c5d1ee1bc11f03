package lint

import (
	"cmp"
	"iter"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// List has the warnings of a ruleset, in groups by what they depend on, so that a change replaces
// only those that it affects. To make one, pass each rule to Add, and then the ruleset to Finish.
// After that it does not change.
type List struct {
	options resolver.Options
	pages   Pages // nil if more than these may answer paths of the site
	groups  [groups][]sourcedWarning
	// read are the warnings of sources' readers, by source.
	read [][]Warning
	// passing are the rules without variables that pass, until the list is finished.
	passing []sourcedRule
}

type group int

const (
	ofOptions group = iota
	ofRules         // of each rule by itself, and of rules that have the same key
	ofTies          // between rules with variables
	ofChains        // of chains, and of what else depends on all rules
	groups
)

// sourcedWarning is a warning with the source of its rule, numbered as in [resolver.RuleChange].
type sourcedWarning struct {
	source int
	Warning
}

// sourcedRule is a rule with its source.
type sourcedRule struct {
	source int
	rule   resolver.Rule
}

// New returns the list of a ruleset that will be compiled with these options.
func New(options resolver.Options) *List {
	l := &List{options: options}
	for _, w := range originWarnings(options.Origin) {
		l.add(ofOptions, 0, w)
	}
	return l
}

// Ruleset returns the list of a ruleset.
func Ruleset(rs *resolver.Ruleset) *List {
	l := New(rs.Options())
	l.addAll(rs)
	return l
}

// addAll examines all rules of a ruleset.
func (l *List) addAll(rs *resolver.Ruleset) {
	for source := range rs.Sources() {
		for rule := range rs.RulesOf(source) {
			l.Add(source, rule)
		}
	}
	l.Finish(rs)
}

// Add examines a valid rule of a source by itself.
func (l *List) Add(source int, rule resolver.Rule) {
	for _, w := range lintRule(rule, l.options.Query) {
		l.add(ofRules, source, w)
	}
	if rule.Value == resolver.PassValue && !resolver.IsTemplate(rule.Key) {
		l.passing = append(l.passing, sourcedRule{source, rule})
	}
}

// AddRead adds warnings of the reader of a source.
func (l *List) AddRead(source int, warnings ...Warning) {
	if len(warnings) == 0 {
		return
	}
	l.haveRead(source)
	l.read[source] = append(l.read[source], warnings...)
}

// haveRead makes room for the warnings of a source's reader.
func (l *List) haveRead(source int) {
	for len(l.read) <= source {
		l.read = append(l.read, nil)
	}
}

// Finish examines the ruleset that was made from the rules.
func (l *List) Finish(rs *resolver.Ruleset) {
	for this := range rs.Shadowed() {
		by, _ := rs.Numbered(this.By)
		l.addShadowed(sourcedRule{this.Source, this.Rule}, sourcedRule{rs.SourceOf(this.By), by})
	}
	l.addTies(rs)
	s := newSurvey(rs)
	s.addTemplateFailures(l, func(int) bool { return true })
	s.addChains(l, slices.Collect(rs.InternalRedirects()))
	s.addIdlePasses(l)
	l.passing = nil
}

func (l *List) add(to group, source int, w Warning) {
	l.groups[to] = append(l.groups[to], sourcedWarning{source, w})
}

// addShadowed warns of a rule whose key an earlier source has.
func (l *List) addShadowed(this, by sourcedRule) {
	l.add(ofRules, this.source, about(this.rule, WarnShadowed, "the rule is never reached, as "+
		by.place()+" has the key, too, and is asked first; remove one of the two rules"))
}

// place says where a rule is, for a message about another rule.
func (r sourcedRule) place() string {
	const inline = 0
	if r.source == inline && r.rule.Position.Line == 0 {
		return "an inline rule"
	}
	return r.rule.Position.String()
}

// Warnings returns all warnings. Those of single rules come first, in the order of their sources
// and places, then those of chains.
func (l *List) Warnings() (all []Warning) {
	single := slices.Concat(l.groups[ofRules], l.groups[ofTies])
	for source, read := range l.read {
		for _, warning := range read {
			single = append(single, sourcedWarning{source, warning})
		}
	}
	slices.SortStableFunc(single, func(a, b sourcedWarning) int {
		return cmp.Or(cmp.Compare(a.source, b.source), a.Position.ComparePlace(b.Position),
			cmp.Compare(a.Key, b.Key))
	})
	for _, group := range [...][]sourcedWarning{l.groups[ofOptions], single, l.groups[ofChains]} {
		for _, warning := range group {
			all = append(all, warning.Warning)
		}
	}
	return all
}

// each yields all warnings in any order.
func (l *List) each() iter.Seq[Warning] {
	return func(yield func(Warning) bool) {
		for _, group := range l.groups {
			for _, warning := range group {
				if !yield(warning.Warning) {
					return
				}
			}
		}
		for _, warning := range slices.Concat(l.read...) {
			if !yield(warning) {
				return
			}
		}
	}
}

// Since returns the warnings that before lacks. Warnings match if they have the same kind and key
// or, without a key, the same message.
func (l *List) Since(before *List) (fresh []Warning) {
	type subject struct {
		kind Kind
		text string
	}
	subjectOf := func(w Warning) subject { return subject{w.Kind, cmp.Or(w.Key, w.Message)} }
	warnings := l.Warnings()
	known := make(map[subject]bool, len(warnings))
	for _, w := range warnings {
		known[subjectOf(w)] = false
	}
	if len(known) == 0 {
		return nil
	}
	for w := range before.each() {
		if _, asked := known[subjectOf(w)]; asked {
			known[subjectOf(w)] = true
		}
	}
	for _, w := range warnings {
		if !known[subjectOf(w)] {
			fresh = append(fresh, w)
		}
	}
	return fresh
}

// toldPlaces returns the places in sources about which their readers warn.
func (l *List) toldPlaces() map[resolver.Position]bool {
	told := map[resolver.Position]bool{}
	for _, warning := range slices.Concat(l.read...) {
		told[warning.Position] = true
	}
	return told
}

// isRead reports whether the reader of a source has warnings.
func (l *List) isRead(source int) bool { return source < len(l.read) && len(l.read[source]) > 0 }
