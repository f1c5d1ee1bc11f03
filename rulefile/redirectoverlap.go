package rulefile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectKey is the key of a rule that a _redirects file has, for finding out which paths others have, too.
type redirectKey struct {
	text     string   // canonical
	segments []string // its segments; an expression has text around it or, at the end of the key, spans segments
	exact    bool
	template bool
}

func newRedirectKey(rule resolver.Rule) redirectKey {
	text := resolver.CanonicalKey(rule.Key, false)
	return redirectKey{text, strings.Split(text, "/"), rule.Exact, resolver.IsTemplate(rule.Key)}
}

// overlap returns a path that matches both keys, if there is one.
func (k redirectKey) overlap(other redirectKey) (path string, ok bool) {
	segments, ok := common(k.segments, other.segments, !k.exact, !other.exact)
	return "/" + strings.Join(segments, "/"), ok
}

// common returns the segments of a path that begins with those of two keys, and ends with those of a key that has none below it.
func common(a, b []string, belowA, belowB bool) (path []string, ok bool) {
	for len(a) > 0 && len(b) > 0 && !isSpan(a[0]) && !isSpan(b[0]) {
		segment, fits := commonSegment(a[0], b[0])
		if !fits {
			return nil, false
		}
		path, a, b = append(path, segment), a[1:], b[1:]
	}
	rest := b
	if len(b) == 0 || len(a) > 0 && isSpan(b[0]) {
		rest = a
	}
	return append(path, example(rest)...), meetAtEnd(a, b, belowA, belowB)
}

// meetAtEnd is common for what is left of two keys where one has ended or comes to an expression
// that spans segments.
func meetAtEnd(a, b []string, belowA, belowB bool) bool {
	switch {
	case len(a) == 0:
		return belowA || len(b) == 0
	case len(b) == 0:
		return belowB
	}
	return true
}

// commonSegment returns a segment that matches two, of which none spans several.
func commonSegment(a, b string) (segment string, ok bool) {
	if !isPattern(a) && !isPattern(b) {
		return a, a == b
	}
	if !isPattern(a) {
		a, b = b, a
	}
	prefix, suffix := around(a)
	if !isPattern(b) {
		return b, len(b) > len(prefix)+len(suffix) && strings.HasPrefix(b, prefix) && strings.HasSuffix(b, suffix)
	}
	otherPrefix, otherSuffix := around(b)
	fits := strings.HasPrefix(prefix, otherPrefix) || strings.HasPrefix(otherPrefix, prefix)
	fits = fits && (strings.HasSuffix(suffix, otherSuffix) || strings.HasSuffix(otherSuffix, suffix))
	return longer(prefix, otherPrefix) + "x" + longer(suffix, otherSuffix), fits
}

func longer(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}

func isPattern(segment string) bool { return strings.Contains(segment, "{") }
func isSpan(segment string) bool    { return strings.HasPrefix(segment, "{+") }

// around returns the text around an expression.
func around(pattern string) (prefix, suffix string) {
	prefix, _, _ = strings.Cut(pattern, "{")
	_, suffix, _ = strings.Cut(pattern, "}")
	return prefix, suffix
}

// example returns segments that match those of a key.
func example(segments []string) []string {
	segments = slices.Clone(segments)
	for i, segment := range segments {
		if isPattern(segment) {
			prefix, suffix := around(segment)
			segments[i] = prefix + "x" + suffix
		}
	}
	return segments
}

// compare puts the key first that the resolver takes for the paths that match both.
func (k redirectKey) compare(other redirectKey) int {
	if c := cmp.Or(cmp.Compare(other.own(), k.own()), compareBool(other.spans(), k.spans()), compareBool(k.template, other.template)); c != 0 {
		return c
	}
	return slices.CompareFunc(k.segments, other.segments, func(a, b string) int { return cmp.Compare(weight(b), weight(a)) })
}

// own is how many segments a key has that stand for one each.
func (k redirectKey) own() int {
	if k.spans() {
		return len(k.segments) - 1
	}
	return len(k.segments)
}

func (k redirectKey) spans() bool { return slices.ContainsFunc(k.segments, isSpan) }

// weight is what a segment counts in comparisons: a literal one more than any expression, and one that spans segments nothing.
func weight(segment string) int {
	prefix, suffix := around(segment)
	switch {
	case isSpan(segment):
		return 0
	case isPattern(segment):
		return 1 + len(prefix) + len(suffix)
	}
	return math.MaxInt
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// keyedRule is a rule with its key taken apart.
type keyedRule struct {
	key  redirectKey
	rule resolver.Rule
}

func newKeyedRule(rule resolver.Rule) keyedRule { return keyedRule{newRedirectKey(rule), rule} }
