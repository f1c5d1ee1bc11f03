package resolver

import (
	"cmp"
	"iter"
	"slices"
)

// warningList is what the authors of rules should know, by what they depend on: what a change does
// not concern stays as it is.
type warningList struct {
	groups [warningGroups][]rankedWarning
	// read are those of the readers of sources, by the place of the source in the precedence.
	read [][]Warning
}

type warningGroup int

const (
	ofOptions   warningGroup = iota
	ofRules                  // without variables, each by itself and with those that have its key
	ofTemplates              // all of them together
	ofChains                 // and of what else depends on all rules
	warningGroups
)

// rankedWarning is a warning with the place in the precedence of the source that its rule is of.
type rankedWarning struct {
	rank int
	Warning
}

// branch returns the same warnings, without those of rules that each stand by themselves: what is
// added to it is seen there alone.
func (w *warningList) branch() warningList {
	b := warningList{read: slices.Clone(w.read)}
	for i, group := range w.groups {
		b.groups[i] = slices.Clip(group)
	}
	b.groups[ofRules] = nil
	return b
}

// list returns all warnings. Those of single rules are in the order of their places.
func (w *warningList) list() []Warning {
	single := slices.Concat(w.groups[ofRules], w.groups[ofTemplates])
	for rank, read := range w.read {
		for _, warning := range read {
			single = append(single, rankedWarning{rank, warning})
		}
	}
	slices.SortStableFunc(single, func(a, b rankedWarning) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), comparePlaces(a.Position, b.Position),
			cmp.Compare(a.Key, b.Key))
	})
	var all []Warning
	for _, group := range [...][]rankedWarning{w.groups[ofOptions], single, w.groups[ofChains]} {
		for _, warning := range group {
			all = append(all, warning.Warning)
		}
	}
	return all
}

// all gives all warnings in any order.
func (w *warningList) all() iter.Seq[Warning] {
	return func(yield func(Warning) bool) {
		for _, group := range w.groups {
			for _, warning := range group {
				if !yield(warning.Warning) {
					return
				}
			}
		}
		for _, warning := range slices.Concat(w.read...) {
			if !yield(warning) {
				return
			}
		}
	}
}

// toldPlaces returns the places in sources that their readers warn of.
func (w *warningList) toldPlaces() map[Position]bool {
	told := map[Position]bool{}
	for _, read := range w.read {
		for _, warning := range read {
			told[warning.Position] = true
		}
	}
	return told
}

// isRead reports whether the reader of a source warns of anything.
func (w *warningList) isRead(rank int) bool { return rank < len(w.read) && len(w.read[rank]) > 0 }

// comparePlaces compares places in one source. A rule without one comes last, as it is added last
// where the others have places.
func comparePlaces(a, b Position) int {
	return cmp.Or(cmp.Compare(uint(a.Line-1), uint(b.Line-1)), cmp.Compare(a.Column, b.Column))
}

// rankedRule is a rule with the place of its source in the precedence.
type rankedRule struct {
	rank int
	rule Rule
}

// rankedAt returns the rule of an entry.
func (c *Compiler) rankedAt(at ref) rankedRule {
	rule, rank := c.ruleAt(at)
	return rankedRule{rank, rule}
}

func (o *options) compareRanked(a, b rankedRule) int {
	return o.compareRules(a.rule, a.rank, b.rule, b.rank)
}

// compareRules puts rules in the order of their sources and of their places there, and those
// without a place, or all where lines do not count, in that of their keys.
func (o *options) compareRules(a Rule, aRank int, b Rule, bRank int) int {
	byPlace := 0
	if !o.noLines {
		byPlace = comparePlaces(a.Position, b.Position)
	}
	return cmp.Or(cmp.Compare(aRank, bRank), byPlace, cmp.Compare(a.Key, b.Key))
}
