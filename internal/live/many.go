package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangesFor collects changes of the rules that serve, of all sources, for [Edit.Make]. read passes
// on each rule to set, or the key of one to remove, and can ask now for the rule that a key has.
// What changes nothing is left out, such as the removal of a rule that is not there. With isWhole
// these are all rules, and what is not among them is removed. The error is that of read, or a
// refusal that names the keys that were passed twice.
func ChangesFor(serving *Loaded, isWhole bool, read func(
	now func(key string) (resolver.Rule, bool), change func(rule resolver.Rule, isRemoved bool),
) error) (changes []Change, err error) {
	var twice []error
	met := map[string]bool{} // by canonical key
	meet := func(key string) (isFirst bool) {
		key = resolver.CanonicalKey(key, serving.Ruleset.Options().FoldCase)
		isFirst, met[key] = !met[key], true
		return isFirst
	}
	err = read(serving.Written, func(rule resolver.Rule, isRemoved bool) {
		now, isThere := serving.Written(rule.Key)
		now.Key, now.Position = rule.Key, rule.Position // which do not count
		switch {
		case !meet(rule.Key):
			twice = append(twice, placed(rule.Position,
				refusal.Errorf(refusal.Invalid, "the key %q stands twice; leave one of them out", rule.Key)))
		case isRemoved && isThere:
			changes = append(changes, Change{Key: rule.Key})
		case !isRemoved && (!isThere || now != rule):
			changes = append(changes, Change{Key: rule.Key, Rule: &rule})
		}
	})
	if err != nil {
		return nil, err
	}
	for n := 0; isWhole && n < serving.Sources(); n++ {
		for rule := range serving.RulesOf(n) {
			if meet(rule.Key) {
				changes = append(changes, Change{Key: rule.Key, IsWithoutOther: true})
			}
		}
	}
	return changes, refusal.Join(twice)
}

// placed puts the line in front of a refusal that it is about, if that is known.
func placed(at resolver.Position, err error) error {
	r, is := errors.AsType[*refusal.Refusal](err)
	if !is || at.Line == 0 {
		return err
	}
	return refusal.Of(r.Reason, fmt.Errorf("%s: %w", at, err))
}
