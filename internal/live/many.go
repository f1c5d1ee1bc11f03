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
		metOthers: map[string]bool{}}
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
	// met tells whether something was passed for the key of a number, and metOthers of a canonical key
	// without one, as its windows are none of this time, or it has no rule.
	met       []bool
	metOthers map[string]bool
	changes   []Change
	twice     []error
}

// add adds the change that sets a rule, or removes the one of its key.
func (c *collection) add(rule resolver.Rule, isRemoved bool) {
	if c.meet(rule.Key) {
		c.twice = append(c.twice, placed(rule.Position,
			refuse(Invalid, "the key %q stands twice; leave one of them out", rule.Key)))
		return
	}
	now, isThere := c.serving.Written(rule.Key)
	now.Key, now.Position = rule.Key, rule.Position // which do not count
	switch {
	case isRemoved && isThere:
		c.changes = append(c.changes, Change{Key: rule.Key})
	case !isRemoved && (!isThere || now != rule):
		c.changes = append(c.changes, Change{Key: rule.Key, Rule: &rule})
	}
}

// meet marks a key, and reports whether it was marked already.
func (c *collection) meet(key string) (again bool) {
	if number, isKnown := c.serving.Ruleset.NumberOf(key); isKnown {
		again, c.met[number] = c.met[number], true
		return again
	}
	key = c.canonical(key)
	again, c.metOthers[key] = c.metOthers[key], true
	return again
}

// isMet reports whether a key is marked.
func (c *collection) isMet(key string) bool {
	number, isKnown := c.serving.Ruleset.NumberOf(key)
	return isKnown && c.met[number] || c.metOthers[c.canonical(key)]
}

func (c *collection) canonical(key string) string {
	return resolver.CanonicalKey(key, c.serving.Ruleset.Options().FoldCase)
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
		if _, _, isActive := c.serving.Active(key); !isActive && !c.isMet(key) {
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
