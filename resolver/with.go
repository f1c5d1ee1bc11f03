package resolver

import (
	"maps"
	"slices"
)

// With derives the ruleset that results from changes, made in their order, and returns the
// difference. The ruleset answers like one compiled of the same rules with [Options.NoLines]. If rs
// lacks that option, all rules are compiled. The error is one of [Compiler.Compile]. Removing a
// missing rule changes nothing. rs stays as it is, and both share what does not change, so a few
// changes cost little.
func (rs *Ruleset) With(changes []RuleChange) (*Ruleset, Difference, error) {
	d := derivation{before: rs}
	return d.derive(changes)
}

// namedKeys is how many keys of each kind a difference names.
const namedKeys = 10

// IsWorn reports whether the ruleset should be compiled again, because a quarter of its arena is
// unused, or its table is too full.
func (rs *Ruleset) IsWorn() bool {
	return rs.table.isWorn()
}

// Recompile compiles the ruleset again from its own rules. Rules get other numbers.
func (rs *Ruleset) Recompile() (*Ruleset, error) {
	d := derivation{before: rs}
	return d.compileAll()
}

// RuleOf returns the rule of a source, numbered as in [RuleChange], for a key in any spelling. It
// also returns a rule that an earlier source shadows.
func (rs *Ruleset) RuleOf(source int, key string) (rule Rule, ok bool) {
	return rs.ruleOf(keyOfSource{source, rs.opts.canonicalKey(key)})
}

// BySpelling returns changes for [Ruleset.With] in which each spelling of a key has its own rule.
// So removing one spelling leaves another in place. ruleOf is [Ruleset.RuleOf], or a function that
// knows more. The error, of type [RuleErrors], names the keys that a source would have in two
// spellings.
func (rs *Ruleset) BySpelling(
	changes []RuleChange, ruleOf func(source int, key string) (Rule, bool),
) ([]RuleChange, error) {
	spelled := map[keyOfSource]map[string]Rule{}
	var keys []keyOfSource
	for _, change := range changes {
		written := change.rule().Key
		key := keyOfSource{change.Source, rs.opts.canonicalKey(written)}
		if spelled[key] == nil {
			spelled[key] = map[string]Rule{}
			if rule, ok := ruleOf(key.rank, key.key); ok {
				spelled[key][rule.Key] = rule
			}
			keys = append(keys, key)
		}
		if delete(spelled[key], written); change.Rule != nil {
			spelled[key][written] = *change.Rule
		}
	}
	return oneEach(keys, spelled)
}

// oneEach returns changes of the rules of keys, each of which has one spelling.
func oneEach(
	keys []keyOfSource, spelled map[keyOfSource]map[string]Rule,
) (changes []RuleChange, err error) {
	var errs errorList
	for _, key := range keys {
		rules := spelled[key]
		change := RuleChange{Source: key.rank, Key: key.key}
		for n, name := range slices.Sorted(maps.Keys(rules)) {
			rule := rules[name]
			if n > 0 {
				errs.failDuplicate(0, *change.Rule, rule)
			}
			change.Key, change.Rule = name, &rule
		}
		changes = append(changes, change)
	}
	if errs.count > 0 {
		return nil, errs.inOrder()
	}
	return changes, nil
}
