package resolver

import (
	"maps"
	"slices"
)

// Broken returns the rules that break keys which the rulesets before do not break. Requests for a
// broken key are answered with an error, as its chain never ends or is too long. count is how many
// such rules there are, whatever options the rulesets have; first are the first of them by
// position, with the reason and what to write instead. The kind of each is a [*LoopError] or
// [ErrTooManyRedirects]. most limits how many are named.
func (rs *Ruleset) Broken(before []*Ruleset, most int) (count int, first []*RuleError) {
	broken := firstKeys{most: most}
	add := func(rule Rule) {
		fails := func(old *Ruleset) bool { return old.failureOf(rule.Key) != nil }
		if !slices.ContainsFunc(before, fails) {
			broken.add(rule)
		}
	}
	if len(rs.failures) > 0 { // else there is nothing to look for
		for n, slot := range rs.internal {
			rs.opts.pauseAfter(n)
			if at := rs.table.slots.at(int(slot)).ref(); rs.failureAt(at) != nil {
				add(rs.rule(at))
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rs.templateFailures)) {
		add(rs.templates.ruleAt(i).rule)
	}
	return broken.count, rs.brokenErrors(broken.rules)
}

// failureOf returns the error that requests for a key are answered with by its own rule, if there
// is one.
func (rs *Ruleset) failureOf(key string) error {
	canonical := rs.opts.canonicalKey(key)
	if i, ok := rs.templates.find(canonical); ok {
		return rs.templateFailures[i]
	}
	if at := rs.entryOf(canonical); at != 0 {
		return rs.failureAt(at)
	}
	return nil
}

// failureAt returns the error that requests are answered with by the rule of an entry.
func (rs *Ruleset) failureAt(at ref) error {
	var r record
	if r.decodeAnswer(&rs.table.arena, rs.table.arena.bytes(at)); r.isFailure() {
		return rs.failures[r.failure()]
	}
	return nil
}

// brokenErrors returns the errors of broken rules, in the words of the warnings of them. A loop has
// one warning for all of its keys.
func (rs *Ruleset) brokenErrors(rules []Rule) (errs []*RuleError) {
	for _, rule := range rules {
		kind := rs.failureOf(rule.Key)
		errs = append(errs, &RuleError{
			Kind: kind, Position: rule.Position, Key: rule.Key, Message: rs.brokenMessage(rule, kind),
		})
	}
	return errs
}

func (rs *Ruleset) brokenMessage(rule Rule, failure error) string {
	if IsTemplate(rule.Key) {
		_, message := templateFailure(failure, rs.opts.maxRedirects)
		return message
	}
	loop, is := failure.(*LoopError)
	switch {
	case failure == ErrTooManyRedirects:
		return tooManyMessage(rs.opts.maxRedirects)
	case !is:
		return failure.Error()
	}
	found := lookUp(&rs.table, rs.templates, newInternalValue(rule.Value).path)
	return loopMessage(loop, slices.Contains(loop.Cycle, rule.Key), rule, found.literal.remaining)
}

// IsBroken reports whether the warning is of a rule whose requests are answered with an error.
func (w Warning) IsBroken() bool { return w.Kind == WarnLoop || w.Kind == WarnTooManyRedirects }
