package redirects

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// pattern returns a set as the resolver's pattern.
func (s *paths) pattern() *pattern.Pattern {
	if s.compiled == nil {
		s.compiled = patternOf(resolver.Rule{Key: s.key(), Exact: !s.below})
	}
	return s.compiled
}

// overlaps reports whether two sets have a path in common.
func (s *paths) overlaps(other *paths) bool {
	if len(s.segments) == 0 || len(other.segments) == 0 {
		return s.below || other.below
	}
	_, both := s.pattern().Overlap(other.pattern())
	return both
}

// overlap reports whether a set of some and one of others have a path in common.
func overlap(some, others []paths) bool {
	for i := range some {
		for j := range others {
			if some[i].overlaps(&others[j]) {
				return true
			}
		}
	}
	return false
}

// isWithin reports whether a set is a subset of another. It may miss that for sets with several
// variables that span segments.
func (s *paths) isWithin(other *paths) bool {
	own, span := s.split()
	theirs, theirSpan := other.split()
	isOpen := s.below || span
	switch {
	case isOpen && !other.below && !theirSpan, len(own[0]) < len(theirs[0]):
		return false
	case theirSpan && s.below && len(theirs[1]) > 0, len(own[1]) < len(theirs[1]) && span:
		return false
	}
	if theirSpan && !span {
		// their part after the variable is at the end of the path
		cut := len(own[0]) - len(theirs[1])
		if cut <= len(theirs[0]) {
			return false
		}
		own[0], own[1] = own[0][:cut], own[0][cut:]
	} else if !other.below && !theirSpan && len(own[0]) > len(theirs[0]) {
		return false
	}
	front, behind := own[0][:len(theirs[0])], own[1][len(own[1])-len(theirs[1]):]
	return areWithin(front, theirs[0]) && areWithin(behind, theirs[1])
}

// split returns the segments before and after the variable that spans some, and whether there is
// one.
func (s *paths) split() (segments [2][]segment, hasSpan bool) {
	at := slices.IndexFunc(s.segments, func(s segment) bool { return s.spans })
	if at < 0 {
		return [2][]segment{s.segments}, false
	}
	return [2][]segment{s.segments[:at], s.segments[at+1:]}, true
}

func areWithin(segments, others []segment) bool {
	for i := range others {
		if !segments[i].isWithin(&others[i]) {
			return false
		}
	}
	return true
}

// isWithin reports whether another segment matches all that a segment matches.
func (s *segment) isWithin(other *segment) bool {
	switch {
	case s.isText() && other.isText():
		return canonical(s.before) == canonical(other.before)
	case s.isText():
		return other.matches(s.before)
	case other.isText():
		return false
	}
	return strings.HasPrefix(canonical(s.before), canonical(other.before)) &&
		strings.HasSuffix(canonical(s.after), canonical(other.after))
}

// matches reports whether a segment with a variable matches a text.
func (s *segment) matches(text string) bool {
	text, before, after := canonical(text), canonical(s.before), canonical(s.after)
	return len(text) > len(before)+len(after) &&
		strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

// intersect returns the paths that two sets have in common, with the variables of the first.
// Segments that span several may only be in the other set, below all segments of the first. It
// returns false if there are no such paths.
func (s *paths) intersect(other *paths) (both paths, ok bool) {
	n := max(len(s.segments), len(other.segments))
	if n > len(s.segments) && !s.below || n > len(other.segments) && !other.below {
		return both, false
	}
	both = *s
	both.segments, both.below, both.compiled = nil, s.below && other.below, nil
	for i := range n {
		var segment segment
		switch {
		case i >= len(s.segments):
			segment = other.segments[i]
			segment.capture, segment.cutBefore, segment.cutAfter = "", 0, 0
		case i >= len(other.segments):
			segment = s.segments[i]
		default:
			if segment, ok = s.segments[i].intersect(&other.segments[i]); !ok {
				return both, false
			}
		}
		if !segment.isText() {
			segment.name = both.freeName(segment.name, 2)
		}
		both.segments = append(both.segments, segment)
	}
	return both, true
}

// common is intersect that also handles sets whose paths end in a slash below others.
func (s *paths) common(other *paths) (sets []paths, ok bool) {
	a, ownA := s.withoutSlash()
	b, ownB := other.withoutSlash()
	isSlashedA, isSlashedB := ownA < len(a.segments), ownB < len(b.segments)
	if !isSlashedA && !isSlashedB {
		both, ok := s.intersect(other)
		return []paths{both}, ok && !s.hasSpan() && !other.hasSpan()
	}
	isOpen := func(set *paths, isSlashed bool) bool {
		return isSlashed || set.below || set.isSlashed()
	}
	if a.hasSpan() || b.hasSpan() || !isOpen(s, isSlashedA) || !isOpen(other, isSlashedB) {
		return nil, false
	}
	both, ok := a.intersect(&b)
	if !ok {
		return nil, false
	}
	path := both.itself()
	if front := max(ownA, ownB); front < len(path.segments) {
		path.segments = path.segments[:front] // what follows it is only somewhere below
	} else {
		sets = append(sets, path.slashed())
	}
	if both.below {
		path = path.with(segment{name: path.freeName(Splat, 2), spans: true})
		sets = append(sets, path.slashed())
	}
	return sets, true
}

// withoutSlash returns what is below a path, of a set that has that with a slash at its end, and
// how many segments of it the set has itself.
func (s *paths) withoutSlash() (set paths, own int) {
	set, own = *s, len(s.segments)
	if !s.isSlashed() {
		return set, own
	}
	set.compiled = nil
	set.segments = s.segments[:own-1]
	if own < 2 || !s.segments[own-2].spans {
		return set, own - 1
	}
	set.segments = append(slices.Clone(s.segments[:own-2]), segment{name: s.segments[own-2].name})
	set.below = true
	return set, own - 2
}

// intersect returns what two segments have in common. If both have a variable, one must be within
// the other.
func (s *segment) intersect(other *segment) (both segment, ok bool) {
	switch {
	case s.isText() || s.isWithin(other):
		return *s, s.isWithin(other)
	case other.isText():
		both = *other
		both.capture, both.cutBefore, both.cutAfter = s.capture, s.cutBefore, s.cutAfter
		return both, s.matches(other.before)
	}
	both = *s
	both.before, both.after = canonical(other.before), canonical(other.after)
	return both, other.isWithin(s)
}
