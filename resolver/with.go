package resolver

import (
	"maps"
	"slices"
)

// RuleChange sets or removes a rule of a source.
type RuleChange struct {
	// Source is the n-th that [Compiler.NextSource] began, or 0 for what came before.
	Source int
	// Key is that of the rule which is removed, in any spelling. One that is set has its own.
	Key string
	// Rule is the key's rule from now on, nil for none.
	Rule *Rule
}

// With derives the ruleset that results from changes, the later ones after the earlier ones, and
// tells what they change. It answers as one that is compiled of the same rules with
// [Options.NoLines], as rs should be: from another one the first is compiled. Its warnings are
// those of the last compilation, less those of rules that have changed since, and those of the
// rules that changed. The error is that of [Compiler.Compile]. To remove what is not there changes
// nothing. rs goes on as it is, and shares what stays: a few changes cost no more than what they
// concern.
func (rs *Ruleset) With(changes []RuleChange) (*Ruleset, Difference, error) {
	d := derivation{before: rs}
	return d.derive(changes)
}

// namedKeys is how many keys of each kind the differences of derived rulesets name.
const namedKeys = 10

// IsWorn reports whether so much has changed since the ruleset was compiled that it is time to
// compile it anew: a quarter of the arena is of no use any more, or the table is too full.
func (rs *Ruleset) IsWorn() bool {
	const little = 64 << 10 // bytes; of a small table With itself makes a larger one
	slots := rs.table.slots.n
	arena := &rs.table.arena
	return rs.gone+arena.lost > max(arena.size()/4, little) ||
		slots*slotSize > little && rs.taken > slots-slots/4
}

// Recompile compiles the ruleset anew, of its own rules. Rules get other numbers.
func (rs *Ruleset) Recompile() (*Ruleset, error) {
	d := derivation{before: rs}
	return rs.compileWith(&d)
}

// compileWith compiles the rules of a ruleset with the changes of a derivation.
func (rs *Ruleset) compileWith(d *derivation) (*Ruleset, error) {
	c := newCompiler(rs.opts)
	c.opts.noLines = true
	changes := d.inOrder()
	for rank := range max(rs.lastRank(), d.lastRank) + 1 {
		c.rank = rank
		for rule := range rs.RulesOf(rank) {
			if d.changes[keyOfSource{rank, rs.opts.canonicalKey(rule.Key)}] == nil {
				c.Add(rule)
			}
		}
		for ; len(changes) > 0 && changes[0].Source == rank; changes = changes[1:] {
			if rule := changes[0].Rule; rule != nil {
				c.Add(*rule)
			}
		}
		c.Warn(d.readWarnings(rank)...)
	}
	return c.Compile()
}

// RuleOf returns the rule of a source, as [RuleChange] has it, for a key in any spelling. It is
// there, too, where an earlier source's rule serves.
func (rs *Ruleset) RuleOf(source int, key string) (rule Rule, ok bool) {
	return rs.ruleOf(keyOfSource{source, rs.opts.canonicalKey(key)})
}

func (rs *Ruleset) ruleOf(key keyOfSource) (rule Rule, ok bool) {
	if i, ok := rs.templates.find(key.key); ok && rs.templates.ruleAt(i).rank == key.rank {
		return rs.templates.ruleAt(i).rule, true
	}
	if entry, _ := rs.find(key.key); entry != 0 && rs.rankAt(entry.ref()) == key.rank {
		return rs.rule(entry.ref()), true
	}
	rule, ok = rs.shadowed[key]
	return rule, ok
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
	var c Compiler
	for _, key := range keys {
		rules := spelled[key]
		change := RuleChange{Source: key.rank, Key: key.key}
		for n, name := range slices.Sorted(maps.Keys(rules)) {
			rule := rules[name]
			if n > 0 {
				c.failDuplicate(0, *change.Rule, rule)
			}
			change.Key, change.Rule = name, &rule
		}
		changes = append(changes, change)
	}
	if len(c.errs) > 0 {
		return nil, c.ruleErrors()
	}
	return changes, nil
}
