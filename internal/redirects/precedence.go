package redirects

import (
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
	// extra is how many rules lines have got more, and extraOfLine those of the line being made.
	extra, extraOfLine int
	slashes            Slashes
	// isCompared tells that later rules could win against earlier ones; isSlashed that there are rules
	// for paths with a slash at their end.
	isCompared, isSlashed bool
}

// What a line may cost. A line that needs more is refused, and those behind it are not.
const (
	mostInFront = 1024    // rules that it would win against
	fewInFront  = 16      // the same, where there are many rules more already
	manyExtra   = 1 << 15 // rules more of all lines
	mostForms   = 512     // of keys
	mostSpans   = 1024    // rules that span segments in the middle
)

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
	key := patternOf(taken)
	n := len(m.rules)
	rule.pattern = key
	m.rules = append(m.rules, rule)
	m.index.Add(key, n)
	if rule.set.hasSpan() {
		first := firstTextOf(rule.rule.Key)
		m.spans[first] = append(m.spans[first], n)
		m.nSpan++
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

// beats calls do with the rules against which a rule could win, until it reports false.
func (m *madeRules) beats(rule *madeRule, do func(n int) bool) {
	key := patternOf(rule.rule)
	if rule.set.hasSpan() {
		for n := range m.rules {
			other := &m.rules[n]
			isLonger := m.slashes == SlashesKept && ownSegments(other.rule.Key) > ownSegments(rule.rule.Key)
			if isLonger || other.set.hasSpan() && !other.isOvertaken(key, rule) {
				continue
			}
			if taken := other.taken(rule, m.slashes); taken.overlaps(&rule.set) && !do(n) {
				return
			}
		}
		return
	}
	goesOn := true
	m.index.Each(key, func(n int, _ string) bool {
		goesOn = do(n)
		return goesOn
	})
	if m.nSpan == 0 {
		return
	}
	for _, spans := range m.spans.alike(firstTextOf(rule.rule.Key)) {
		for _, n := range spans {
			if goesOn && m.rules[n].isOvertaken(key, rule) {
				goesOn = do(n)
			}
		}
	}
}

// isOvertaken reports whether another rule could win against this one, of which one spans segments.
// The rule of more segments wins, and of as many the one that leaves less of the path, which is
// nothing for an exact one; only then keys decide it.
func (r *madeRule) isOvertaken(key *pattern.Pattern, by *madeRule) bool {
	own, others := ownSegments(r.rule.Key), ownSegments(by.rule.Key)
	if own > others || own == others && r.rule.Exact && key.Compare(r.pattern) > 0 {
		return false
	}
	_, both := key.Overlap(r.pattern)
	return both
}

// ownSegments is how many segments a key has, without that which spans several.
func ownSegments(key string) int {
	return strings.Count(key, "/") + 1 - strings.Count(key, "{+")
}

// inFront returns the first line in front that takes all that a rule would take; or those of the
// rules made so far that it would win against, and that lines in front have.
func (m *madeRules) inFront(rule *madeRule) (owner int, loses []int, err error) {
	isTemplate := resolver.IsTemplate(rule.rule.Key)
	if owner, isMade := m.lineOfKey(rule.rule.Key); isMade && isTemplate {
		return owner, nil, nil
	}
	owner = none
	most := mostInFront
	if m.extra > manyExtra {
		most = fewInFront
	}
	m.beats(rule, func(n int) bool {
		other := &m.rules[n]
		if other.line >= rule.line {
			return true
		}
		if (owner == none || other.line < owner) && rule.set.isWithin(&other.set) {
			owner = other.line
		}
		loses = append(loses, n)
		return len(loses) <= most || !isTemplate && rule.rule.Exact && owner == none
	})
	if owner == none && len(loses) > most {
		return none, nil, m.errDear(rule, &m.rules[loses[0]])
	}
	return owner, loses, nil
}

// checkForm refuses a rule whose key is of one form too many, or one too many that span segments.
func (m *madeRules) checkForm(rule *madeRule) error {
	if !resolver.IsTemplate(rule.rule.Key) {
		return nil
	}
	form := patternOf(rule.rule).Form()
	if len(m.forms) >= mostForms && !m.forms[form] || rule.set.hasSpan() && m.nSpan >= mostSpans {
		return errManyForms
	}
	m.forms[form] = true
	return nil
}
