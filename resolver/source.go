package resolver

import (
	"cmp"
	"maps"
)

// source is where rules come from: its name in positions, and its precedence.
type source struct {
	name string
	rank int
}

// keyOfSource is a canonical key in a source.
type keyOfSource struct {
	rank int
	key  string
}

// shadowedRules are the rules that do not serve, because an earlier source has their key.
type shadowedRules struct {
	all   map[keyOfSource]Rule
	isOwn bool // no other ruleset has the map
}

// keep adds a rule.
func (s *shadowedRules) keep(key keyOfSource, rule Rule) {
	s.own()
	s.all[key] = rule
}

// forget removes the rule of a key, if there is one.
func (s *shadowedRules) forget(key keyOfSource) {
	if _, is := s.all[key]; is {
		s.own()
		delete(s.all, key)
	}
}

// own copies the map if another ruleset has it, too.
func (s *shadowedRules) own() {
	if !s.isOwn {
		s.all, s.isOwn = maps.Clone(s.all), true
	}
	if s.all == nil {
		s.all = map[keyOfSource]Rule{}
	}
}

// shadowed is the place of a rule that an earlier one shadows, which is not in the table.
const shadowed = -1

// rankedRule is a rule with the precedence of its source.
type rankedRule struct {
	rank int
	rule Rule
}

// compareRules orders rules by their sources, and then by their places there. Rules without a place
// are ordered by key, and so are all rules if lines do not count.
func (o *options) compareRules(a Rule, aRank int, b Rule, bRank int) int {
	byPlace := 0
	if !o.noLines {
		byPlace = a.Position.ComparePlace(b.Position)
	}
	return cmp.Or(cmp.Compare(aRank, bRank), byPlace, cmp.Compare(a.Key, b.Key))
}
