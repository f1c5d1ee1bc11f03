package resolver

import (
	"cmp"
	"strings"
)

// NearMiss is the rule that comes nearest to a path that no key matches.
type NearMiss struct {
	Rule Rule
	// Reason says why the key does not match.
	Reason string
}

// nearMiss returns the rule that comes nearest to a path which no key matches, nil where none comes
// near. It looks at all keys, but for those that would let the path pass, too.
func (rs *Ruleset) nearMiss(pathname string) *NearMiss {
	path := strings.TrimSuffix(string(rs.opts.appendKey(nil, pathname[1:])), "/")
	if path == "" {
		return nil
	}
	var nearest candidate
	for _, s := range rs.table.entries(&rs.opts) {
		c := compareToKey(path, rs.table.key(s.ref()), s.isExact())
		if c.reason != "" && rs.table.outcomeOf(s.ref()) != PassValue {
			c.entry = s.ref()
			nearest.replaceBy(c)
		}
	}
	for _, t := range rs.templates.all() {
		if t.value.outcome == PassValue {
			continue
		}
		c := rs.templates.compareTo(t, strings.Split(strings.TrimSuffix(pathname[1:], "/"), "/"))
		c.template = t
		nearest.replaceBy(c)
	}
	switch {
	case nearest.reason == "":
		return nil
	case nearest.template != nil:
		return &NearMiss{nearest.template.rule, nearest.reason}
	}
	return &NearMiss{rs.rule(nearest.entry), nearest.reason}
}

// candidate is a key that comes near to a path.
type candidate struct {
	key    string // canonical
	reason string // "" for a key that does not come near
	// matched is how many segments of the path match, missing how many of the key the path lacks.
	matched, missing int
	kind             missKind
	entry            ref
	template         *templateRule
}

// missKind is what lies between a path and a key; of several the first one is the smallest.
type missKind int

const (
	missExact missKind = iota
	missCase
	missLetter
	missSegments
	missText
)

// replaceBy takes another candidate in the place of this one if that comes nearer.
func (c *candidate) replaceBy(other candidate) {
	nearer := cmp.Or(
		cmp.Compare(other.matched, c.matched),
		cmp.Compare(c.kind, other.kind),
		cmp.Compare(c.missing, other.missing),
		strings.Compare(c.key, other.key),
	) > 0
	if other.reason != "" && (nearer || c.reason == "") {
		*c = other
	}
}

// compareToKey compares a path with a literal key that does not match it; both are canonical.
func compareToKey(path, key string, exact bool) candidate {
	c := candidate{key: key}
	isBelow := len(path) > len(key) && path[len(key)] == '/'
	switch {
	case isBelow && exact && strings.HasPrefix(path, key):
		c.kind, c.reason = missExact, exactReason(path[len(key):])
	case len(path) == len(key) && strings.EqualFold(path, key),
		isBelow && !exact && strings.EqualFold(path[:len(key)], key):
		c.kind, c.reason = missCase, caseReason
	case oneLetterAway(path, key):
		c.kind, c.reason = missLetter, "it is one letter away"
	case len(key) > len(path) && key[len(path)] == '/' && strings.HasPrefix(key, path):
		missing := key[len(path):]
		c.kind, c.reason = missSegments, missingReason(missing)
		c.missing = strings.Count(missing, "/")
	default:
		return candidate{}
	}
	c.matched = strings.Count(key, "/") + 1 - c.missing
	return c
}

const caseReason = "letters differ in case, and fold case is not set"

func exactReason(rest string) string { return "it is exact, and the path goes on with " + rest }

func missingReason(missing string) string { return "the path lacks " + missing }

// compareTo compares the segments of a path with a template that does not match it. What an
// expression that spans segments takes is what the segments behind it leave.
func (x *templateIndex) compareTo(t *templateRule, path []string) candidate {
	c := candidate{key: t.Key()}
	alike := false // whether path and key have some text in common
	for i := range t.segments {
		at := i
		if t.span >= 0 && i > t.span {
			at = max(i, len(path)-len(t.segments)+i)
		}
		if at >= len(path) {
			c.missing = len(t.segments) - i
			break
		}
		s := x.compareSegment(t, i, path[at])
		alike = alike || s.alike
		switch {
		case s.miss == "":
			c.matched++
		case c.reason != "" || s.kind == missCase && !s.alike:
			return candidate{} // this is the second miss, or another word
		default:
			c.kind, c.reason = s.kind, s.miss
		}
	}
	isBelow := t.span < 0 && len(path) > len(t.segments)
	switch {
	case c.reason == "" && t.rule.Exact && isBelow:
		c.kind, c.reason = missExact, exactReason("/"+strings.Join(path[len(t.segments):], "/"))
	case !alike || c.missing > 0 && c.reason != "":
		return candidate{}
	case c.missing > 0:
		c.kind, c.reason = missSegments, missingReason(t.textFrom(len(t.segments)-c.missing))
	}
	return c
}

// comparedSegment is what lies between a segment of a path and one of a template.
type comparedSegment struct {
	miss  string // "" for nothing
	kind  missKind
	alike bool // whether they have text in common
}

func (x *templateIndex) compareSegment(t *templateRule, i int, segment string) comparedSegment {
	p := &t.segments[i]
	if p.IsLiteral() {
		canonical := CanonicalKey(segment, x.foldCase)
		if canonical == p.Prefix {
			return comparedSegment{alike: true}
		}
		return comparedSegment{caseReason, missCase, strings.EqualFold(canonical, p.Prefix)}
	}
	if _, matches := x.matchSegment(p, segment); matches || i == t.span {
		return comparedSegment{alike: p.LiteralLength() > 0}
	}
	miss := segment + " has not the form " + strings.TrimPrefix(t.textOf(i), "/")
	alike := sharesText(segment, p.Prefix) || sharesText(segment, p.Suffix)
	return comparedSegment{miss, missText, alike}
}

// sharesText reports whether a segment has the beginning of the text around an expression.
func sharesText(segment, text string) bool {
	half := text[:(len(text)+1)/2]
	return half != "" && strings.Contains(strings.ToLower(segment), strings.ToLower(half))
}

// textFrom returns the segments of a key from the i-th one on, each with its "/".
func (t *templateRule) textFrom(i int) string {
	var b strings.Builder
	for ; i < len(t.segments); i++ {
		b.WriteString(t.textOf(i))
	}
	return b.String()
}

func (t *templateRule) textOf(i int) string {
	p := &t.segments[i]
	switch {
	case p.IsLiteral():
		return "/" + p.Prefix
	case i == t.span:
		return "/{+" + t.names[p.Slot] + "}"
	}
	return "/" + p.Prefix + "{" + t.names[p.Slot] + "}" + p.Suffix
}

// shortestWord is the length of the shortest word in which a letter more or less, or another one,
// is taken for a slip.
const shortestWord = 4

// oneLetterAway reports whether two paths differ in one letter, or in the order of two. The word in
// which they do is not short. Other characters, such as digits, tell pages apart on purpose.
func oneLetterAway(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) > len(b)+1 {
		return false
	}
	start := 0
	for start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	longer, other := a[start:endA], b[start:endB]
	swapped := len(longer) == 2 && len(other) == 2 && longer[0] == other[1] && longer[1] == other[0]
	if len(longer) != 1 && !swapped || !isWord(longer) || !isWord(other) {
		return false
	}
	from, to := start, endA
	for from > 0 && isLetter(a[from-1]) {
		from--
	}
	for to < len(a) && isLetter(a[to]) {
		to++
	}
	return to-from >= shortestWord
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
