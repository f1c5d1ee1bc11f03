package resolver

import "cmp"

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

// compareRules puts rules in the order of their sources and of their places there, and those
// without a place, or all where lines do not count, in that of their keys.
func (o *options) compareRules(a Rule, aRank int, b Rule, bRank int) int {
	byPlace := 0
	if !o.noLines {
		byPlace = comparePlaces(a.Position, b.Position)
	}
	return cmp.Or(cmp.Compare(aRank, bRank), byPlace, cmp.Compare(a.Key, b.Key))
}
