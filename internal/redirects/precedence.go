package redirects

import (
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// The second question: which rule would win? That of a later line may win against an earlier
// line's, which gets one rule more then, for what the two have in common. That one can win against
// others in turn, so it is compared as well.

// madeRules are the rules made so far, by the paths that they match.
type madeRules struct {
	index *pattern.Index
	rules []madeRule
	// spans are those that span segments in their middle, which the index does not find.
	spans byFirstText[int]
	nSpan int
	forms map[string]bool
	keys  map[string]int // the lines of rules that are for no line's own path, by key
	// spent is what the lines have cost beyond what each may, and ofLine that of the line being made.
	spent, ofLine int
	slashes       Slashes
	// isCompared tells that later rules could win against earlier ones; isSlashed that there are rules
	// for paths with a slash at their end.
	isCompared, isSlashed bool
}

// What comparing may cost, in steps of about a tenth of a microsecond: each line some, one line and
// all lines together more beyond that. A line that needs still more is refused, and those behind it
// are not.
const (
	ofEachLine = 1 << 11
	ofOneLine  = 1 << 18
	ofAllLines = 1 << 23

	aComparison = 32
	aRuleMore   = 256
)

// The most forms of keys, in each of which a rule is looked up, and rules that span segments in the
// middle.
const (
	mostForms = 512
	mostSpans = 1024
)

// pay adds to the cost of the line being made, and reports whether the line may still cost that.
func (m *madeRules) pay(steps int) bool {
	m.ofLine += steps
	m.spent += max(0, min(steps, m.ofLine-ofEachLine))
	return m.ofLine <= ofEachLine || m.ofLine <= ofOneLine && m.spent <= ofAllLines
}

func newMadeRules() madeRules {
	return madeRules{index: pattern.NewIndex(pattern.Preceded), spans: make(byFirstText[int]),
		forms: make(map[string]bool), keys: make(map[string]int)}
}

// lineOfKey returns the line that has the rule of a key, which is no line's own path.
func (m *madeRules) lineOfKey(key string) (line int, isMade bool) {
	if len(m.keys) > 0 {
		line, isMade = m.keys[resolver.CanonicalKey(key, false)]
	}
	return line, isMade
}

// remember takes down a rule.
func (m *madeRules) remember(rule madeRule) {
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate && m.isCompared || rule.isExtra || m.isSlashed {
		m.keys[resolver.CanonicalKey(rule.rule.Key, false)] = rule.line
	}
	if !m.isCompared || !isTemplate && rule.rule.Exact && !m.isSlashed {
		return // it wins against all rules with variables that match its path
	}
	taken := rule.rule
	if rule.isOfAll {
		taken.Exact = false // it takes a slash at the end, as the next longer one cannot
	}
	rule.pattern = patternOf(taken)
	n := len(m.rules)
	m.rules = append(m.rules, rule)
	if rule.set.hasSpan() {
		first := firstTextOf(rule.rule.Key)
		m.spans[first] = append(m.spans[first], n)
		m.nSpan++
	} else {
		m.index.Add(rule.pattern, n)
	}
}

// patternOf takes the key of a rule apart.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}

// taken returns what a rule takes, with a slash at the end if the other one is for such paths and
// the line of this one takes them, too.
func (r *madeRule) taken(by *madeRule, slashes Slashes) paths {
	isTolerant := r.isOfAll || slashes != SlashesKept
	if isTolerant && !r.set.below && by.set.isSlashed() && !r.set.isSlashed() {
		return r.set.slashed()
	}
	return r.set
}

// eachPreceded gives the rules against which a rule could win.
func (m *madeRules) eachPreceded(rule *madeRule) iter.Seq[int] {
	return func(yield func(n int) bool) {
		key, goesOn := patternOf(rule.rule), true
		if !rule.set.hasSpan() {
			m.index.Each(key, func(n int, _ string) bool {
				goesOn = yield(n)
				return goesOn
			})
		}
		for _, n := range m.besideSpans(rule) {
			if goesOn && m.rules[n].isPreceded(key, rule, m.slashes) {
				goesOn = yield(n)
			}
		}
	}
}

// besideSpans returns the rules with which a rule is compared one by one, as one of the two spans
// segments in its middle.
func (m *madeRules) besideSpans(rule *madeRule) (all []int) {
	if !rule.set.hasSpan() {
		all = slices.Concat(m.spans.alike(firstTextOf(rule.rule.Key))...)
		slices.Sort(all)
		return all
	}
	for n := range m.rules {
		all = append(all, n)
	}
	return all
}

// isPreceded reports whether another rule could win against this one, of which one spans segments.
// The rule of more segments wins, and of as many the one that leaves less of the path, which is
// nothing for an exact one; only then keys decide it.
func (r *madeRule) isPreceded(key *pattern.Pattern, by *madeRule, slashes Slashes) bool {
	own, others := ownSegments(r.rule.Key), ownSegments(by.rule.Key)
	if r.set.hasSpan() {
		isPatternFirst := own > others || own == others && r.rule.Exact && key.Compare(r.pattern) > 0
		if _, both := key.Overlap(r.pattern); isPatternFirst || !both {
			return false
		}
	} else if own > others && slashes == SlashesKept {
		return false
	}
	taken := r.taken(by, slashes)
	return taken.overlaps(&by.set)
}

// ownSegments is how many segments a key has, without that which spans several.
func ownSegments(key string) int {
	return strings.Count(key, "/") + 1 - strings.Count(key, "{+")
}

// inFront returns the first line in front that takes all that a rule would take; or those of the
// rules made so far that it would win against, and that lines in front have. For a path without
// variables that no line in front takes all are found, however many that are.
func (m *madeRules) inFront(rule *madeRule) (owner int, loses []int, err error) {
	const enough = 64
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate {
		if err := m.checkForm(rule); err != nil {
			return none, nil, err
		}
		if owner, isMade := m.lineOfKey(rule.rule.Key); isMade {
			return owner, nil, nil
		}
	}
	owner = none
	isPlain := !isTemplate && rule.rule.Exact
	lookUps := len(m.forms) + m.nSpan
	if rule.set.hasSpan() {
		lookUps = len(m.rules)
	}
	isPaid := isPlain || m.pay(lookUps)
	for n := range m.eachPreceded(rule) {
		other := &m.rules[n]
		if other.line < rule.line {
			if (owner == none || other.line < owner) && rule.set.isWithin(&other.set) {
				owner = other.line
			}
			loses = append(loses, n)
		}
		isPaid = isPlain || m.pay(aComparison)
		if !isPaid || isPlain && owner != none && len(loses) > enough {
			break
		}
	}
	if owner == none && !isPaid {
		first := rule
		if len(loses) > 0 {
			first = &m.rules[loses[0]]
		}
		return none, nil, errDear(rule, first)
	}
	return owner, loses, nil
}

// checkForm refuses a rule whose key is of one form too many, or one too many that span segments.
func (m *madeRules) checkForm(rule *madeRule) error {
	form := patternOf(rule.rule).Form()
	if len(m.forms) >= mostForms && !m.forms[form] || rule.set.hasSpan() && m.nSpan >= mostSpans {
		return errManyForms
	}
	m.forms[form] = true
	return nil
}
