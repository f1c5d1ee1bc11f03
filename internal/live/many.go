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
func ChangesFor(serving *Loaded, isWhole bool, read func(
	now func(key string) (resolver.Rule, bool), change func(rule resolver.Rule, isRemoved bool),
) error) ([]Change, error) {
	c := collection{serving: serving, met: make([]bool, serving.Ruleset.Numbers()),
		metIdle: map[string]bool{}}
	if err := read(serving.Written, c.add); err != nil {
		return nil, err
	}
	if isWhole {
		c.removeOthers()
	}
	return c.changes, refuseAll(c.twice)
}

// collection is a list of changes of the rules that serve, while it is made.
type collection struct {
	serving *Loaded
	// met tells whether something was passed for the key of a number, and metIdle of a canonical key
	// whose windows are none of this time.
	met     []bool
	metIdle map[string]bool
	changes []Change
	twice   []error
}

// add adds the change that sets a rule, or removes the one of its key.
func (c *collection) add(rule resolver.Rule, isRemoved bool) {
	now, isThere := c.serving.Written(rule.Key)
	if c.meet(rule.Key, isThere) {
		c.twice = append(c.twice, placed(rule.Position,
			refuse(Invalid, "the key %q stands twice; leave one of them out", rule.Key)))
		return
	}
	now.Key, now.Position = rule.Key, rule.Position // which do not count
	switch {
	case isRemoved && isThere:
		c.changes = append(c.changes, Change{Key: rule.Key})
	case !isRemoved && (!isThere || now != rule):
		c.changes = append(c.changes, Change{Key: rule.Key, Rule: &rule})
	}
}

// meet marks a key, and reports whether it was marked already. Keys without a rule are told of with
// the edit.
func (c *collection) meet(key string, isThere bool) (again bool) {
	if number, isKnown := c.serving.Ruleset.NumberOf(key); isKnown {
		again, c.met[number] = c.met[number], true
	} else if isThere {
		key = resolver.CanonicalKey(key, c.serving.Ruleset.Options().FoldCase)
		again, c.metIdle[key] = c.metIdle[key], true
	}
	return again
}

// removeOthers removes the rules whose keys were not met.
func (c *collection) removeOthers() {
	remove := func(rule resolver.Rule) {
		c.changes = append(c.changes, Change{Key: rule.Key, IsWithoutOther: true})
	}
	for number, isMet := range c.met {
		if rule, is := c.serving.Ruleset.Numbered(number); is && !isMet {
			remove(rule)
		}
	}
	for key, rule := range c.serving.Scheduled("") {
		if number, _, isActive := c.serving.Active(key); !isActive && !c.metIdle[key] &&
			!(number < len(c.met) && c.met[number]) {
			remove(rule)
		}
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
