package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangesFor collects changes of the rules that serve, of all sources, for [Edit.Make]. read passes
// on each rule to set, or the key of one to remove, and can ask now for the rule that a key has.
// What changes nothing is left out, such as the removal of a rule that is not there. With isWhole
// these are all rules, and what is not among them is removed. The error is that of read, or a
// [Refusal] that names the keys that were passed twice.
func ChangesFor(serving *resolver.Ruleset, isWhole bool, read func(
	now func(key string) (resolver.Rule, bool), change func(rule resolver.Rule, isRemoved bool),
) error) ([]Change, error) {
	c := collection{serving: serving, met: make([]bool, serving.Numbers())}
	now := func(key string) (resolver.Rule, bool) {
		_, rule, is := ruleOf(serving, key)
		return rule, is
	}
	if err := read(now, c.add); err != nil {
		return nil, err
	}
	for number, isMet := range c.met {
		if isMet || !isWhole {
			continue
		}
		if rule, is := serving.Numbered(number); is {
			c.changes = append(c.changes, Change{Key: rule.Key, IsWithoutOther: true})
		}
	}
	return c.changes, refuseAll(c.twice)
}

// collection is a list of changes of the rules that serve, while it is made.
type collection struct {
	serving *resolver.Ruleset
	met     []bool // whether something was passed for the key of a number
	changes []Change
	twice   []error
}

// add adds the change that sets a rule, or removes the one of its key.
func (c *collection) add(rule resolver.Rule, isRemoved bool) {
	number, isKnown := c.serving.NumberOf(rule.Key)
	var now resolver.Rule
	isThere := false
	if isKnown {
		if now, isThere = c.serving.Numbered(number); c.met[number] {
			c.twice = append(c.twice, placed(rule.Position,
				refuse(Invalid, "the key %q stands twice; leave one of them out", rule.Key)))
			return
		}
		c.met[number] = true
	}
	now.Key, now.Position = rule.Key, rule.Position // which do not count
	switch {
	case isRemoved && isThere:
		c.changes = append(c.changes, Change{Key: rule.Key})
	case !isRemoved && (!isThere || now != rule):
		c.changes = append(c.changes, Change{Key: rule.Key, Rule: &rule})
	}
}

// placed puts the line in front of a refusal that it is about, if that is known.
func placed(at resolver.Position, err error) error {
	refusal, is := errors.AsType[*Refusal](err)
	if !is || at.Line == 0 {
		return err
	}
	return &Refusal{refusal.Reason, fmt.Errorf("%s: %w", at, err)}
}
