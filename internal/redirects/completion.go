package redirects

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// completed returns a rule, with those that the lines in front of its line need beside it. Or it
// returns the line that takes all that the rule would take.
func (m *maker) completed(rule madeRule) (rules []madeRule, owner int, err error) {
	if !m.isCompared {
		return []madeRule{rule}, none, nil
	}
	owner, loses, err := m.inFront(&rule)
	if owner != none || err != nil {
		return nil, owner, err
	}
	if err := m.checkSlashes(&rule); err != nil {
		return nil, none, err
	}
	rules = append(rules, rule)
	for _, n := range loses {
		more, err := m.inCommon(m.rules[n], &rule)
		if err != nil {
			return nil, none, err
		}
		rules = append(rules, more...)
	}
	return rules, none, nil
}

// checkSlashes refuses a rule that is compared with one of a line in front which spans segments, or
// the other way round, where a slash at the end of a path counts: rules take paths with and without
// it. What is below a path that a line takes as a whole is given back by [maker.letSlashesPass].
func (m *maker) checkSlashes(rule *madeRule) error {
	if m.Slashes != SlashesKept || rule.isExtra {
		return nil
	}
	for _, n := range m.besideSpans(rule) {
		first := &m.rules[n]
		path, isSame := first.takesSlashedOf(rule)
		if !isSame {
			path, isSame = rule.takesSlashedOf(first)
		}
		if isSame && first.line < rule.line {
			return errors.New("the rules of this line and that at " + m.placeOf(first.line).String() +
				" both take " + path + ", as a slash at the end makes no difference to the first; write " +
				"a line for each path")
		}
	}
	return nil
}

// takesSlashedOf reports whether a rule that spans segments wins where another line takes a path
// with a slash at its end, which the rule takes and its line does not.
func (r *madeRule) takesSlashedOf(other *madeRule) (path string, ok bool) {
	own, hasSpan := r.set.split()
	if !hasSpan || r.set.below || r.set.isSlashed() ||
		other.set.below && len(other.set.segments) <= len(own[0]) ||
		ownSegments(other.rule.Key) > ownSegments(r.rule.Key)+1 {
		return "", false
	}
	if r.slashed == nil {
		slashed := r.set.slashed()
		r.slashed = slashed.pattern()
	}
	return r.slashed.Overlap(other.set.pattern())
}

// inCommon returns the rules of a line in front for what its rule has in common with another, which
// would win there.
func (m *maker) inCommon(first madeRule, second *madeRule) (rules []madeRule, err error) {
	own := first.taken(second, m.slashes)
	t := m.translationOf(first.line)
	common, ok := own.common(&second.set)
	if !ok {
		if path, overlap := own.pattern().Overlap(second.set.pattern()); overlap {
			return nil, m.errOverlap(first.line, t, path)
		}
		return nil, nil
	}
	for i := range common {
		both := &common[i]
		if both.key() == first.rule.Key {
			continue // which is as long as the second one's
		}
		if wider := *both; first.set.below && !wider.isSlashed() {
			// a rule for all below keeps a slash at the end of a path
			wider.below, wider.compiled = true, nil
			if t.isAppended(&wider) {
				both = &wider
			}
		}
		more, err := m.rulesWithin(first.line, t, both)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// rulesWithin returns the rules of a line for some of the paths that it takes. With an error, which
// is the first one, it returns the rules of those without.
func (m *maker) rulesWithin(line int, t *translation, set *paths) (rules []madeRule, err error) {
	_, has, err := m.ownerOfAny(line, t, set)
	if has == all || err != nil {
		return nil, err
	}
	for _, rule := range t.rules(set, false, has == itself) {
		rule.line, rule.isExtra = line, true
		if _, isMade := m.lineOfKey(rule.rule.Key); isMade {
			continue
		}
		more, wrong := []madeRule(nil), error(nil)
		if m.pay(aRuleMore) {
			more, _, wrong = m.completed(rule)
		} else {
			wrong = errDear(&rule, &rule)
		}
		rules, err = append(rules, more...), cmp.Or(err, wrong)
	}
	return rules, err
}

// rulesAt is rulesWithin for paths all of which a line takes, in whichever of its sets.
func (m *maker) rulesAt(line int, set *paths) (rules []madeRule, err error) {
	t := m.translationOf(line)
	for i := range t.sets {
		both, ok := t.sets[i].and(set)
		if !ok {
			continue
		}
		more, err := m.rulesWithin(line, t, &both)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

var errManyForms = errors.New("the lines in front of this one have \"*\" or placeholders " +
	"in so many different places that comparing takes too long; write a line for each path")

// errDear is why a line is refused that would need too many rules more.
func errDear(rule, other *madeRule) error {
	path, _ := rule.set.pattern().Overlap(other.set.pattern())
	return fmt.Errorf("lines in front of this one take some of its paths, such as %s, and there are "+
		"so many of them that comparing takes too long; write a line for each path, or put this line "+
		"in front of them", path)
}

// errOverlap is why a line is refused that takes paths which a line in front takes, too, where no
// rule is for what both have.
func (m *maker) errOverlap(first int, t *translation, path string) error {
	instead := "one from " + path + " to " + t.destinationAt(path)
	if t.Answer == Gone {
		instead = "one for " + path + " that is gone"
	} else if t.passes() {
		instead = "one for " + path + " that passes"
	}
	return errors.New("the line at " + m.placeOf(first).String() + " takes " + path + " first, and " +
		"a rule of this line would win there; write a rule for each such path instead of this line, " +
		"beginning with " + instead + ", or put this line in front of that one")
}

// destinationAt returns where a line leads a path that it takes.
func (t *translation) destinationAt(path string) string {
	var rules []resolver.Rule
	for i := range t.sets {
		for _, made := range t.rules(&t.sets[i], true, false) {
			rules = append(rules, made.rule)
		}
	}
	const origin = "https://site.invalid"
	ruleset, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		return path // what leads to itself
	}
	return cmp.Or(strings.TrimPrefix(ruleset.Resolve(origin+path).Destination, origin), path)
}
