package rulefile

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// Of the lines that match a path, the first wins; of the rules, that with the longest key. Where a
// later line's rule would win against an earlier line's, the earlier line gets one more rule, for
// what the two have in common:
//
//	/about/*         https://a.example/:splat   about              https://a.example/
//	                                            about/learn        https://a.example/learn
//	/:locale/learn   /learn                     {_locale}/learn    /learn
//
// Here the second line's rule would win at /about/learn.

// lineOrder holds the rules of lines that later rules could precede.
type lineOrder struct {
	index  *pattern.Index
	placed []ownedRule
	// patterns are those of the rules placed. spans are those with text behind what spans segments,
	// which the index does not find.
	patterns []*pattern.Pattern
	spans    []int
	keys     map[string]int // the lines of rules that are for no line's own path, by key
	work     int
	// isCompared tells that later rules could precede earlier ones; isSlashed that there are rules for
	// paths with a slash at their end.
	isCompared, isSlashed bool
}

// ownedRule is a rule and the line whose answer it is.
type ownedRule struct {
	placedRule
	line int
}

func newLineOrder() *lineOrder {
	return &lineOrder{index: pattern.NewIndex(pattern.Preceded), keys: make(map[string]int)}
}

// ownerOf returns the line that has the rule of a key, which is no line's own path.
func (o *lineOrder) ownerOf(key string) (line int, isPlaced bool) {
	if len(o.keys) > 0 {
		line, isPlaced = o.keys[resolver.CanonicalKey(key, false)]
	}
	return line, isPlaced
}

// add takes down a rule.
func (o *lineOrder) add(rule ownedRule) {
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate && o.isCompared || rule.isExtra || o.isSlashed {
		o.keys[resolver.CanonicalKey(rule.rule.Key, false)] = rule.line
	}
	if !o.isCompared || !isTemplate && rule.rule.Exact && !o.isSlashed {
		return // it precedes all rules with variables that match its path
	}
	taken := rule.rule
	if rule.isOfAll {
		taken.Exact = false // it takes a slash at the end, as the next longer one cannot
	}
	key, n := patternOf(taken), len(o.placed)
	o.placed = append(o.placed, rule)
	o.patterns = append(o.patterns, key)
	o.index.Add(key, n)
	if rule.set.span() >= 0 {
		o.spans = append(o.spans, n)
	}
}

// preceded calls do with the rules that a rule could precede, until it reports false.
func (o *lineOrder) preceded(rule *ownedRule, do func(n int) bool) {
	key := patternOf(rule.rule)
	if rule.set.span() < 0 {
		o.index.Each(key, func(n int, _ string) bool { return do(n) })
		for _, n := range o.spans {
			o.work++
			if _, both := key.Overlap(o.patterns[n]); both && !do(n) {
				return
			}
		}
		return
	}
	for n, other := range o.patterns {
		if o.work++; o.placed[n].set.span() >= 0 && key.Compare(other) > 0 {
			continue
		}
		if !do(n) {
			return
		}
	}
}

// concerns reports whether what has been placed may say something of a rule without variables.
func (o *lineOrder) concerns(rule resolver.Rule) (is bool) {
	if _, is = o.ownerOf(rule.Key); is || o.isSpent() {
		return true
	}
	literal := ownedRule{placedRule: placedRule{rule: rule}}
	o.preceded(&literal, func(int) bool {
		is = true
		return false
	})
	return is
}

const mostWork = 1 << 24

// isSpent reports whether comparing takes too long.
func (o *lineOrder) isSpent() bool {
	return o.index.IsSpent() || o.work > mostWork
}

// settle returns a rule, with those that the lines in front of its line need beside it. Or it
// returns the line that has all that the rule would take.
func (f *redirectsFile) settle(rule ownedRule) (rules []ownedRule, by int, refused error) {
	if !f.order.isCompared {
		return []ownedRule{rule}, none, nil
	}
	if f.order.isSpent() {
		return nil, none, errTooManyForms
	}
	by, inFront := f.inFrontOf(&rule)
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

// inFrontOf returns the first line in front that has all that a rule would take; or those of the
// rules placed that it would precede, and that lines in front have.
func (f *redirectsFile) inFrontOf(rule *ownedRule) (by int, inFront []int) {
	if owner, isPlaced := f.order.ownerOf(rule.rule.Key); isPlaced &&
		resolver.IsTemplate(rule.rule.Key) {
		return owner, nil
	}
	by = none
	f.order.preceded(rule, func(n int) bool {
		other := &f.order.placed[n]
		if other.line < rule.line {
			if (by == none || other.line < by) && rule.set.isWithin(&other.set) {
				by = other.line
			}
			inFront = append(inFront, n)
		}
		return true
	})
	return by, inFront
}

// workOfSharing is how much longer than comparing two rules it takes to share what they have in
// common.
const workOfSharing = 64

// share returns the rules of a line in front for what its rule has in common with another.
func (f *redirectsFile) share(first ownedRule, second *ownedRule) (rules []ownedRule, err error) {
	f.order.work++
	isTolerant := first.isOfAll || f.parser.dialect != Cloudflare
	both := first.set.andSlashed(&second.set, isTolerant)
	if len(both) == 0 {
		return nil, nil
	}
	joined, ok := first.set.joined(&second.set, 0)
	if !ok {
		return nil, errTooManyForms
	}
	both = append(both, joined...)
	f.order.work += workOfSharing
	t, refused := f.translationOf(first.line)
	if refused != nil {
		return nil, refused.why
	}
	for i := range both {
		if both[i].key() == first.rule.Key {
			continue // which is as long as the second one's
		}
		if wider := both[i]; first.set.below && !wider.isSlashed() && wider.span() < 0 {
			// a rule for all below keeps a slash at the end of a path
			if wider.below = true; t.isAppended(&wider) {
				both[i] = wider
			}
		}
		more, err := f.shareOf(first.line, &t, &both[i])
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// shareOf returns the rules of a line for some of the paths that it takes.
func (f *redirectsFile) shareOf(
	line int, t *translation, set *pathSet,
) (rules []ownedRule, err error) {
	by, part := f.takenOf(line, set)
	if part == all && by != line {
		return nil, nil
	}
	for _, rule := range t.rules(set, false, part == itself && by != line) {
		if _, isPlaced := f.order.ownerOf(rule.rule.Key); isPlaced {
			continue
		}
		rule.isExtra = true
		more, _, err := f.settle(ownedRule{rule, line})
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// shareAll is shareOf for paths all of which a line takes, in whichever of its sets.
func (f *redirectsFile) shareAll(line int, set *pathSet) (rules []ownedRule, err error) {
	t, refused := f.translationOf(line)
	if refused != nil {
		return nil, refused.why
	}
	for _, own := range t.sets {
		both := own.and(set)
		for i := range both {
			more, err := f.shareOf(line, &t, &both[i])
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
