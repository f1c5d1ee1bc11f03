package rulefile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// key returns the key of a rule for the paths of a set, without those below.
func (s *pathSet) key() string {
	var b strings.Builder
	for i := range s.segments {
		if i > 0 {
			b.WriteByte('/')
		}
		segment := &s.segments[i]
		b.WriteString(bracesEncoded.Replace(segment.before))
		if segment.isText() {
			continue
		}
		b.WriteByte('{')
		if segment.spans {
			b.WriteByte('+')
		}
		b.WriteString(segment.name + "}" + bracesEncoded.Replace(segment.after))
	}
	return b.String()
}

// bracesEncoded writes braces that are no variable's.
var bracesEncoded = strings.NewReplacer("{", "%7B", "}", "%7D")

// isLiteral reports whether no segment has a variable.
func (s *pathSet) isLiteral() bool {
	return !slices.ContainsFunc(s.segments, func(s setSegment) bool { return !s.isText() })
}

// belowName returns a name for the variable of what is below the paths of a set.
func (s *pathSet) belowName() string {
	if !s.hasName(splatName) {
		return splatName
	}
	return s.freeName("rest")
}

// freeName returns a name that no variable of the set has.
func (s *pathSet) freeName(name string) string {
	for n, base := 2, name; s.hasName(name); n++ {
		name = base + strconv.Itoa(n)
	}
	return name
}

func (s *pathSet) hasName(name string) bool {
	return slices.ContainsFunc(s.segments, func(s setSegment) bool { return s.name == name })
}

// canonical returns the form of text in which what requests cannot tell apart is equal (R3).
func canonical(text string) string {
	for i := range len(text) {
		if c := text[i]; c == '%' || c <= ' ' || c >= 0x7F || strings.IndexByte("\"<>`{}^", c) >= 0 {
			return resolver.CanonicalKey(bracesEncoded.Replace(text), false)
		}
	}
	return text
}

// and returns the paths that two sets have in common, as sets with the variables of the first.
func (s *pathSet) and(other *pathSet) (both []pathSet) {
	if s.span() < 0 && other.span() < 0 {
		return s.ofLength(other, max(len(s.segments), len(other.segments)))
	}
	return s.aroundSpan(other)
}

// splatEnd returns where what a "*" matches ends in n segments of a set, 0 for at their end.
func (s *pathSet) splatEnd(n int) int {
	if span := s.span(); span < 0 || s.segments[span].capture == "" {
		return 0
	}
	return n - s.behind()
}

// behind is how many segments a set has behind that which spans several; 0 where none does.
func (s *pathSet) behind() int {
	if span := s.span(); span >= 0 {
		return len(s.segments) - span - 1
	}
	return 0
}

// span returns the place of the segment that spans several, or -1.
func (s *pathSet) span() int {
	return slices.IndexFunc(s.segments, func(s setSegment) bool { return s.spans })
}

// ofLength returns what two sets have in common that has so many segments, and what is below it.
func (s *pathSet) ofLength(other *pathSet, n int) []pathSet {
	both := pathSet{splatAt: s.splatAt, splatCut: s.splatCut, bareSlash: s.bareSlash}
	if n > len(s.segments) && !s.below || n > len(other.segments) && !other.below {
		return nil
	}
	both.below = s.below && other.below
	if !both.addAll(s, other, 0, n, n) {
		return nil
	}
	return []pathSet{both}
}

// aroundSpan returns what two sets have in common of which one or both have a segment that spans
// several. That are paths of a few lengths and, unless one of the sets has none, all longer ones.
func (s *pathSet) aroundSpan(other *pathSet) (both []pathSet) {
	front, behind := max(s.front(), other.front()), max(s.behind(), other.behind())
	shortest, longest := max(len(s.segments), len(other.segments)), front+behind
	isEndless := true
	for _, set := range []*pathSet{s, other} {
		if set.span() < 0 && !set.below {
			longest, isEndless = len(set.segments), false
		}
	}
	empty := pathSet{splatAt: s.splatAt, splatCut: s.splatCut, bareSlash: s.bareSlash}
	for n := shortest; n <= longest; n++ {
		set := empty
		if set.splatTo = s.splatEnd(n); set.addAll(s, other, 0, n, n) {
			both = append(both, set)
		}
	}
	set, n := empty, front+1+behind
	if !isEndless || !set.addAll(s, other, 0, front, n) {
		return both
	}
	set.splatTo = s.splatEnd(n)
	spans := s
	if s.span() < 0 {
		spans = other
	}
	span := spans.segments[spans.span()]
	span.name = set.freeName(span.name)
	if spans == other || n > len(s.segments) {
		span.capture = "" // it is not all of what the "*" of the first one matches
	}
	if set.segments = append(set.segments, span); set.addAll(s, other, front+1, n, n) {
		both = append(both, set)
	}
	return both
}

// front is how many segments a set has in front of that which spans several; all where none does.
func (s *pathSet) front() int {
	if span := s.span(); span >= 0 {
		return span
	}
	return len(s.segments)
}

// addAll adds what two sets have in common in some of n segments.
func (s *pathSet) addAll(a, b *pathSet, from, to, n int) bool {
	spanOfA, spanOfB := a.span(), b.span()
	for i := from; i < to; i++ {
		if !s.add(a.segmentAt(i, n, spanOfA), b.segmentAt(i, n, spanOfB)) {
			return false
		}
	}
	return true
}

// segmentAt returns what a set with such a span has for the i-th of n segments; nil for any.
func (s *pathSet) segmentAt(i, n, span int) *setSegment {
	switch behind := len(s.segments) - span - 1; {
	case span < 0 && i >= len(s.segments):
		return nil
	case span < 0 || i < span:
		return &s.segments[i]
	case i >= n-behind:
		return &s.segments[i-n+len(s.segments)]
	}
	return nil
}

// add adds what two segments have in common, of which the first one's capture counts. It reports
// false where that is nothing.
func (s *pathSet) add(a, b *setSegment) bool {
	var common setSegment
	switch {
	case a == nil && b == nil:
		common = setSegment{name: splatName}
	case a == nil:
		common = *b
		common.capture = ""
	case b == nil:
		common = *a
	default:
		var ok bool
		if common, ok = a.and(b); !ok {
			return false
		}
	}
	if !common.isText() && s.hasName(common.name) {
		common.name = s.freeName(common.name)
	}
	s.segments = append(s.segments, common)
	return true
}

// and returns what two segments have in common.
func (s *setSegment) and(other *setSegment) (both setSegment, ok bool) {
	switch {
	case s.isText() && other.isText():
		return *s, canonical(s.before) == canonical(other.before)
	case s.isText():
		return *s, other.takes(s.before)
	case other.isText():
		both = *other
		both.capture = s.capture
		return both, s.takes(other.before)
	}
	both = *s
	before, beforeOK := oneAround(s.before, other.before, strings.HasPrefix)
	after, afterOK := oneAround(s.after, other.after, strings.HasSuffix)
	both.before, both.after = before, after
	return both, beforeOK && afterOK
}

// joined returns the paths of two sets in which texts of both around a variable meet, in a segment
// from the given one on: of "a{x}" and "{y}.html" that is "a.html", where nothing is in between. It
// reports false where there are too many.
func (s *pathSet) joined(other *pathSet, from int) (both []pathSet, ok bool) {
	const most = 16
	if s.span() >= 0 || other.span() >= 0 {
		return nil, true
	}
	for i := from; i < min(len(s.segments), len(other.segments)); i++ {
		for _, text := range s.segments[i].joints(&other.segments[i]) {
			set := *s
			set.segments = slices.Clone(s.segments)
			set.segments[i].before, set.segments[i].after, set.segments[i].name = text, "", ""
			more, ok := set.joined(other, i+1)
			both = append(append(both, set.and(other)...), more...)
			if !ok || len(both) > most {
				return nil, false
			}
		}
	}
	return both, true
}

// joints returns the texts that two segments with variables take in which the text in front of one
// variable ends in that behind the other one, or is all that is in front of it.
func (s *setSegment) joints(other *setSegment) (texts []string) {
	if s.isText() || other.isText() {
		return nil
	}
	before, _ := oneAround(s.before, other.before, strings.HasPrefix)
	after, _ := oneAround(s.after, other.after, strings.HasSuffix)
	for n := range min(len(before), len(after)) + 1 {
		text := before + after[n:]
		if strings.HasSuffix(before, after[:n]) && s.takes(text) && other.takes(text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// takes reports whether a segment with a variable takes a text.
func (s *setSegment) takes(text string) bool {
	text, before, after := canonical(text), canonical(s.before), canonical(s.after)
	return len(text) > len(before)+len(after) &&
		strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

// oneAround returns the one of two texts that has the other at its beginning or end.
func oneAround(a, b string, has func(string, string) bool) (text string, ok bool) {
	switch a, b := canonical(a), canonical(b); {
	case has(a, b):
		return a, true
	case has(b, a):
		return b, true
	}
	return "", false
}

// isWithin reports whether all paths of a set are those of another.
func (s *pathSet) isWithin(other *pathSet) bool {
	both := s.and(other)
	return slices.ContainsFunc(both, func(both pathSet) bool { return both.isLike(s) })
}

// isLike reports whether two sets have the same paths.
func (s *pathSet) isLike(other *pathSet) bool {
	if s.below != other.below || len(s.segments) != len(other.segments) {
		return false
	}
	for i := range s.segments {
		if !s.segments[i].isLike(&other.segments[i]) {
			return false
		}
	}
	return true
}

func (s *setSegment) isLike(other *setSegment) bool {
	return s.isText() == other.isText() && s.spans == other.spans &&
		canonical(s.before) == canonical(other.before) &&
		canonical(s.after) == canonical(other.after)
}

// isUnslashed reports whether a set is that of one path each, without a slash at its end.
func (s *pathSet) isUnslashed() bool {
	last := s.segments[len(s.segments)-1]
	return !s.below && (!last.isText() || last.before != "")
}

// andSlashed is and for paths with a slash at their end, if those of the other set have one. The
// first set is tolerant if it is of one path each, and takes that with a slash, too.
func (s *pathSet) andSlashed(other *pathSet, isTolerant bool) []pathSet {
	if !isTolerant || s.below || !other.isSlashed() || s.isSlashed() {
		return s.and(other)
	}
	slashed := *s
	slashed.segments = append(slices.Clip(s.segments), setSegment{})
	return slashed.and(other)
}

// isSlashed reports whether the paths of a set have a slash at their end.
func (s *pathSet) isSlashed() bool {
	n := len(s.segments)
	return n > 0 && s.segments[n-1] == setSegment{}
}
