package rulefile

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Of the lines that match a path, the first wins; of the rules, that with the longest key. Where a
// later line's rule would win against an earlier line's, the earlier line gets one more rule, for
// what the two have in common:
//
//	/about/*         /en/:splat    about              /en/           the second line would win
//	                               about/learn        /en/learn      at /about/learn
//	/:locale/learn   /learn        {locale}/learn     /learn

// lineOrder holds the rules of lines that later rules could precede.
type lineOrder struct {
	index  *resolver.PatternIndex
	placed []ownedRule
	// patterns are those of the rules placed. spans are those with text behind what spans segments,
	// which the index does not find.
	patterns []*resolver.Pattern
	spans    []int
	keys     map[string]bool // of rules that are no line's own path
	work     int
}

// ownedRule is a rule and the line whose answer it is.
type ownedRule struct {
	placedRule
	line int
}

func newLineOrder() *lineOrder {
	return &lineOrder{index: resolver.NewPatternIndex(), keys: make(map[string]bool)}
}

// isPlaced reports whether a key, which is no line's own path, has a rule.
func (o *lineOrder) isPlaced(key string) bool { return o.keys[resolver.CanonicalKey(key, false)] }

// add takes down a rule.
func (o *lineOrder) add(rule ownedRule, isCompared bool) {
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate || rule.isExtra {
		o.keys[resolver.CanonicalKey(rule.rule.Key, false)] = true
	}
	if !isCompared || !isTemplate && rule.rule.Exact {
		return // it precedes all rules with variables that match its path
	}
	pattern := resolver.PatternOf(rule.rule)
	n := len(o.placed)
	o.placed = append(o.placed, rule)
	o.patterns = append(o.patterns, &pattern)
	o.index.Add(&pattern, n)
	if rule.set.span() >= 0 {
		o.spans = append(o.spans, n)
	}
}

// preceded calls do with the rules that a rule could precede, until it reports false.
func (o *lineOrder) preceded(rule *ownedRule, do func(n int) bool) {
	pattern := resolver.PatternOf(rule.rule)
	if rule.set.span() < 0 {
		o.index.Each(&pattern, func(n int, _ string) bool { return do(n) })
		for _, n := range o.spans {
			if _, both := pattern.Overlap(o.patterns[n]); both && !do(n) {
				return
			}
		}
		return
	}
	for n, other := range o.patterns {
		o.work++
		if _, both := pattern.Overlap(other); both && !do(n) {
			return
		}
	}
}

// isSpent reports whether comparing takes too long.
func (o *lineOrder) isSpent() bool {
	const most = 1 << 22
	return o.index.IsSpent() || o.work > most
}

// settle returns a rule, with those that the lines in front of its line need beside it. Or it
// returns the line that has all that the rule would take.
func (f *redirectsFile) settle(rule ownedRule) (rules []ownedRule, by int, refused error) {
	if len(f.dynamic) == 0 {
		return []ownedRule{rule}, none, nil
	}
	if f.order.isSpent() {
		return nil, none, errTooManyForms
	}
	var inFront []int
	by = none
	f.order.preceded(&rule, func(n int) bool {
		other := &f.order.placed[n]
		if other.line < rule.line {
			if rule.set.isWithin(&other.set) {
				by = other.line
			}
			inFront = append(inFront, n)
		}
		return by == none
	})
	if by != none {
		return nil, by, nil
	}
	rules = append(rules, rule)
	for _, n := range inFront {
		more, refused := f.share(f.order.placed[n], &rule)
		if refused != nil {
			return nil, none, refused
		}
		rules = append(rules, more...)
	}
	return rules, none, nil
}

// share returns the rules of a line in front for what its rule has in common with another.
func (f *redirectsFile) share(first ownedRule, second *ownedRule) (rules []ownedRule, err error) {
	f.order.work++
	both, isKnown := first.set.and(&second.set)
	if !isKnown {
		return nil, fmt.Errorf("the line at %s comes first, and takes some of what this line does, "+
			"which no rule can say of two \"*\" in front of a path's end; put this line in front of "+
			"that one, or remove one of the two", f.placeOf(first.line))
	}
	t, refused := f.translationOf(first.line)
	if refused != nil {
		return nil, refused.why
	}
	for i := range both {
		by, part := f.takerOf(first.line, &both[i])
		if part == all && by != first.line {
			continue
		}
		for _, rule := range t.rules(&both[i], false, part == itself && by != first.line) {
			if f.order.isPlaced(rule.rule.Key) {
				continue
			}
			rule.isExtra = true
			more, _, err := f.settle(ownedRule{rule, first.line})
			if err != nil {
				return nil, err
			}
			rules = append(rules, more...)
		}
	}
	return rules, nil
}

// errTooManyForms is the error of a line that cannot be compared with others in reasonable time.
var errTooManyForms = fmt.Errorf("the lines in front of this one have placeholders in so many " +
	"different places that comparing this one with them takes too long; move some of them into " +
	"another file")
