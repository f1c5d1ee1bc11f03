package redirects

import (
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// The second question: which rule would win? A later line's rule may win against an earlier line's.
// The earlier line then gets one more rule, for their common paths. That rule can win against
// others in turn, so it is compared, too.

// madeRules are the rules made so far, by the paths that they match.
type madeRules struct {
	index *pattern.Index
	rules []madeRule
	// spans are those with a span in the middle, which the index does not find.
	spans byFirstText[int]
	nSpan int
	forms map[string]bool
	keys  map[string]int // lines of rules for paths that no line has, by key
	// spent is what the lines have cost beyond their own budgets, and ofLine the cost of the line
	// being made.
	spent, ofLine int
	slashes       Slashes
	// isCompared: later rules could win against earlier ones. isSlashed: there are rules for paths
	// with a slash at the end.
	isCompared, isSlashed bool
}

// Budgets for comparing, in steps of about a tenth of a microsecond: for each line, and more for
// one line and for all lines together. A line that exceeds them is refused, but later lines are
// not.
const (
	ofEachLine = 1 << 11
	ofOneLine  = 1 << 18
	ofAllLines = 1 << 23

	aComparison = 32
	aRuleMore   = 256
)

// Limits for forms of keys, in each of which rules are looked up, and for rules with a span in the
// middle.
const (
	mostForms = 512
	mostSpans = 1024
)

// pay adds to the cost of the line being made, and reports whether it is within the budget.
func (m *madeRules) pay(steps int) bool {
	m.ofLine += steps
	m.spent += max(0, min(steps, m.ofLine-ofEachLine))
	return m.ofLine <= ofEachLine || m.ofLine <= ofOneLine && m.spent <= ofAllLines
}

func newMadeRules() madeRules {
	return madeRules{index: pattern.NewIndex(pattern.Preceded), spans: make(byFirstText[int]),
		forms: make(map[string]bool), keys: make(map[string]int)}
}

// lineOfKey returns the line of the rule with a key, if that is not a path of a line.
func (m *madeRules) lineOfKey(key string) (line int, isMade bool) {
	if len(m.keys) > 0 {
		line, isMade = m.keys[resolver.CanonicalKey(key, false)]
	}
	return line, isMade
}

// remember records a rule.
func (m *madeRules) remember(rule madeRule) {
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate && m.isCompared || rule.isExtra || m.isSlashed {
		m.keys[resolver.CanonicalKey(rule.rule.Key, false)] = rule.line
	}
	if !m.isCompared || !isTemplate && rule.rule.Exact && !m.isSlashed {
		return // it wins against all rules with variables
	}
	taken := rule.rule
	if rule.isOfAll {
		taken.Exact = false // it also matches a slash at the end
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

// patternOf parses the key of a rule.
func patternOf(rule resolver.Rule) *pattern.Pattern {
	return pattern.Parse(resolver.CanonicalKey(rule.Key, false), rule.Exact)
}

// taken returns the paths of a rule, with a slash at the end if the other rule is for such paths
// and this rule's line matches them, too.
func (r *madeRule) taken(by *madeRule, slashes Slashes) paths {
	isTolerant := r.isOfAll || slashes != SlashesKept
	if isTolerant && !r.set.below && by.set.isSlashed() && !r.set.isSlashed() {
		return r.set.slashed()
	}
	return r.set
}

// eachPreceded yields the rules against which a rule could win.
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

// besideSpans returns the rules with which a rule must be compared one by one, because one of the
// two has a span in the middle.
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

// isPreceded reports whether another rule could win against this one, if one of them has a span.
// The rule with more segments wins; of equal ones, the one that leaves less of the path, which is
// nothing for an exact rule. Only then keys decide.
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

// ownSegments returns how many segments a key has, without one that spans several.
func ownSegments(key string) int {
	return strings.Count(key, "/") + 1 - strings.Count(key, "{+")
}

// inFront returns the first earlier line that matches all paths of a rule, or else the rules so far
// that the rule would win against and that earlier lines have. For a path without variables that no
// earlier line matches, all such rules are found, however many there are.
func (m *madeRules) inFront(rule *madeRule) (owner int, loses []int, err error) {
	const enough = 64
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if isTemplate {
		if err := m.checkForm(rule); err != nil {
			return noLine, nil, err
		}
		if owner, isMade := m.lineOfKey(rule.rule.Key); isMade {
			return owner, nil, nil
		}
	}
	owner = noLine
	isPlain := !isTemplate && rule.rule.Exact
	lookUps := len(m.forms) + m.nSpan
	if rule.set.hasSpan() {
		lookUps = len(m.rules)
	}
	isPaid := isPlain || m.pay(lookUps)
	for n := range m.eachPreceded(rule) {
		other := &m.rules[n]
		if other.line < rule.line {
			if (owner == noLine || other.line < owner) && rule.set.isWithin(&other.set) {
				owner = other.line
			}
			loses = append(loses, n)
		}
		isPaid = isPlain || m.pay(aComparison)
		if !isPaid || isPlain && owner != noLine && len(loses) > enough {
			break
		}
	}
	if owner == noLine && !isPaid {
		first := rule
		if len(loses) > 0 {
			first = &m.rules[loses[0]]
		}
		return noLine, nil, errDear(rule, first)
	}
	return owner, loses, nil
}

// checkForm returns an error if a rule's key has one form too many, or is one too many with a span.
func (m *madeRules) checkForm(rule *madeRule) error {
	form := patternOf(rule.rule).Form()
	if len(m.forms) >= mostForms && !m.forms[form] || rule.set.hasSpan() && m.nSpan >= mostSpans {
		return errManyForms
	}
	m.forms[form] = true
	return nil
}
