package resolver

import (
	"maps"
	"slices"
)

// With derives the ruleset that results from changes, made in their order, and tells what they
// change. It answers like one compiled of the same rules with [Options.NoLines]. If rs lacks that
// option, all rules are compiled. The error is one of [Compiler.Compile]. Removing a rule that is
// not there changes nothing. rs stays as it is, and both share what does not change: a few changes
// cost no more than what they concern.
func (rs *Ruleset) With(changes []RuleChange) (*Ruleset, Difference, error) {
	d := derivation{before: rs}
	return d.derive(changes)
}

// namedKeys is how many keys of each kind the differences of derived rulesets name.
const namedKeys = 10

// IsWorn reports whether so much has changed since the ruleset was compiled that it is time to
// compile it anew: a quarter of the arena is of no use any more, or the table is too full.
func (rs *Ruleset) IsWorn() bool {
	return rs.table.isWorn()
}

// Recompile compiles the ruleset anew, of its own rules. Rules get other numbers.
func (rs *Ruleset) Recompile() (*Ruleset, error) {
	d := derivation{before: rs}
	return d.compileAll()
}

// RuleOf returns the rule of a source, as [RuleChange] has it, for a key in any spelling. It is
// there, too, where an earlier source's rule serves.
func (rs *Ruleset) RuleOf(source int, key string) (rule Rule, ok bool) {
	return rs.ruleOf(keyOfSource{source, rs.opts.canonicalKey(key)})
}

// BySpelling returns changes of sources in which each spelling of a key has a rule of its own, as
// those of [Ruleset.With]: to remove one spelling leaves another one there. The error, of type
// [RuleErrors], names the keys that a source then has in two spellings.
func (rs *Ruleset) BySpelling(changes []RuleChange) ([]RuleChange, error) {
	spelled := map[keyOfSource]map[string]Rule{}
	var keys []keyOfSource
	for _, change := range changes {
		written := change.rule().Key
		key := keyOfSource{change.Source, rs.opts.canonicalKey(written)}
		if spelled[key] == nil {
			spelled[key] = map[string]Rule{}
			if rule, ok := rs.ruleOf(key); ok {
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

// oneEach returns changes to the rules that keys have, each of them in one spelling.
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
