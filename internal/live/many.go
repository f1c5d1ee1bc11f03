package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangesBy collects the changes of the rules that serve which read passes on: rules to set, and
// rules whose keys are to have none. now returns the rule that a key has. What changes nothing is
// left out, such as the removal of a rule that is not there. The error is that of read, or a
// [Refusal] that names the keys that are passed twice.
func ChangesBy(serving *resolver.Ruleset, read func(
	now func(key string) (resolver.Rule, bool), change func(rule resolver.Rule, isRemoved bool),
) error) ([]Change, error) {
	c := newCollection(serving)
	now := func(key string) (resolver.Rule, bool) {
		_, rule, is := ruleOf(serving, key)
		return rule, is
	}
	if err := read(now, c.add); err != nil {
		return nil, err
	}
	return c.changes, refuseAll(c.twice)
}

// ChangesTo collects the changes that make the rules that serve, of all sources, those that read
// passes on. Rules that are equal stay where they are. The error is that of [ChangesBy].
func ChangesTo(
	serving *resolver.Ruleset, read func(add func(resolver.Rule)) error,
) ([]Change, error) {
	c := newCollection(serving)
	if err := read(func(rule resolver.Rule) { c.add(rule, false) }); err != nil {
		return nil, err
	}
	for number, isMet := range c.met {
		if rule, is := serving.Numbered(number); is && !isMet {
			c.changes = append(c.changes, Change{Key: rule.Key, IsWithoutOther: true})
		}
	}
	return c.changes, refuseAll(c.twice)
}

// collection is a list of changes of the rules that serve, while it is made.
type collection struct {
	serving *resolver.Ruleset
	met     []bool // whether there is a change for the rule of a number, or an equal rule
	changes []Change
	twice   []error
}

func newCollection(serving *resolver.Ruleset) *collection {
	return &collection{serving: serving, met: make([]bool, serving.Numbers())}
}

// add adds the change that sets a rule, or removes the one of its key.
func (c *collection) add(rule resolver.Rule, isRemoved bool) {
	number, isKnown := c.serving.NumberOf(rule.Key)
	if isKnown && c.met[number] {
		c.twice = append(c.twice, placed(rule.Position,
			refuse(Invalid, "the key %q stands twice; leave one of them out", rule.Key)))
		return
	}
	var now resolver.Rule
	isThere := false
	if isKnown {
		c.met[number] = true
		now, isThere = c.serving.Numbered(number)
	}
	switch {
	case isRemoved && isThere:
		c.changes = append(c.changes, Change{Key: rule.Key})
	case !isRemoved && (!isThere || !saysTheSame(now, rule)):
		c.changes = append(c.changes, Change{Key: rule.Key, Rule: &rule})
	}
}

// saysTheSame reports whether two rules of one key differ at most in its spelling and their places.
func saysTheSame(a, b resolver.Rule) bool {
	a.Key, a.Position = b.Key, b.Position
	return a == b
}

// placed puts the line in front of a refusal that it is about, if that is known.
func placed(at resolver.Position, err error) error {
	refusal, is := errors.AsType[*Refusal](err)
	if !is || at.Line == 0 {
		return err
	}
	return &Refusal{refusal.Reason, fmt.Errorf("%s: %w", at, err)}
}
