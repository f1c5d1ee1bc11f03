package resolver

import (
	"cmp"
	"maps"
)

// source is where rules come from: its name in positions, and its place in the precedence.
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

// own makes a copy that may change.
func (s *shadowedRules) own() {
	if !s.isOwn {
		s.all, s.isOwn = maps.Clone(s.all), true
	}
	if s.all == nil {
		s.all = map[keyOfSource]Rule{}
	}
}

// shadowed stands for the place of a rule that an earlier one shadows, which has none in the table.
const shadowed = -1

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
		byPlace = a.Position.ComparePlace(b.Position)
	}
	return cmp.Or(cmp.Compare(aRank, bRank), byPlace, cmp.Compare(a.Key, b.Key))
}
