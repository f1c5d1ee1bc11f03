package redirects

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// completed returns a rule and the rules that earlier lines need beside it, or else the line that
// matches all paths of the rule.
func (m *maker) completed(rule madeRule) (rules []madeRule, owner int, err error) {
	if !m.isCompared {
		return []madeRule{rule}, noLine, nil
	}
	owner, loses, err := m.inFront(&rule)
	if owner != noLine || err != nil {
		return nil, owner, err
	}
	if err := m.checkSlashes(&rule); err != nil {
		return nil, noLine, err
	}
	rules = []madeRule{rule}
	for _, n := range loses {
		more, err := m.inCommon(m.rules[n], &rule)
		if err != nil {
			return nil, noLine, err
		}
		rules = append(rules, more...)
	}
	return rules, noLine, nil
}

// checkSlashes returns an error if a rule that spans segments is compared with one of an earlier
// line that does not, or the reverse, and a slash at the end of a path matters: rules match paths
// with and without it. [maker.addSlashHoles] passes what is below a path that a line matches as a
// whole.
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
				" both match " + path + ", because the first ignores a slash at the end; write a line for " +
				"each path")
		}
	}
	return nil
}

// takesSlashedOf reports whether a rule that spans segments wins where another line matches a path
// with a slash at its end that the rule matches and its line does not.
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

// inCommon returns the rules of an earlier line for the paths that its rule shares with another
// rule, which would win there.
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
			continue // as long as the second one
		}
		if wider := *both; first.set.below && !wider.isSlashed() {
			// a rule for all below a path keeps a slash at its end
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

// rulesWithin returns the rules of a line for some of its paths. With an error, which is the first
// one, it returns the rules without errors.
func (m *maker) rulesWithin(line int, t *translation, set *paths) (rules []madeRule, err error) {
	_, has, err := m.ownerOfAny(line, t, set)
	if has == shareAll || err != nil {
		return nil, err
	}
	for _, rule := range t.rules(set, false, has == sharePath) {
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

// rulesAt is rulesWithin for paths that a line matches completely, in any of its sets.
func (m *maker) rulesAt(line int, set *paths) (rules []madeRule, err error) {
	t := m.translationOf(line)
	for i := range t.sets {
		both, ok := t.sets[i].intersect(set)
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

var errManyForms = errors.New("the lines before this one have \"*\" or placeholders " +
	"in so many different places that comparing takes too long; write a line for each path")

// errDear is the error of a line that would need too many more rules.
func errDear(rule, other *madeRule) error {
	path, _ := rule.set.pattern().Overlap(other.set.pattern())
	return fmt.Errorf("lines before this one match some of its paths, such as %s, and there are "+
		"so many that comparing takes too long; write a line for each path, or put this line "+
		"before them", path)
}

// errOverlap is the error of a line that shares paths with an earlier line if no rule can have just
// these.
func (m *maker) errOverlap(first int, t *translation, path string) error {
	instead := "one from " + path + " to " + t.destinationAt(path)
	if outcome := t.outcome(); outcome != "" {
		instead = "one for " + path + " with " + outcome
	}
	return errors.New("the line at " + m.placeOf(first).String() + " matches " + path +
		" first, but a rule of this line would win there; write a rule for each such path instead of " +
		"this line, beginning with " + instead + ", or put this line before that one")
}

// destinationAt returns the destination of a line for a path that it matches.
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
		return path // it leads to itself
	}
	return cmp.Or(strings.TrimPrefix(ruleset.Resolve(origin+path).Destination, origin), path)
}
