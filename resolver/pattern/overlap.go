package pattern

import "strings"

// Overlap returns a path that matches both keys, if there is one. It is an example: if no literal
// text decides what an expression stands for, it is "x".
func (p *Pattern) Overlap(other *Pattern) (path string, ok bool) {
	return p.overlap(other, false)
}

// overlap is Overlap; with whole, neither key may leave a part of the path.
func (p *Pattern) overlap(other *Pattern, whole bool) (path string, ok bool) {
	a, b := p.rest(), other.rest()
	a.exact, b.exact = a.exact || whole, b.exact || whole
	var segments []string
	for a.hasOwn() && b.hasOwn() {
		segment, fits := commonSegment(&a.segments[0], &b.segments[0])
		if !fits {
			return "", false
		}
		segments = append(segments, segment)
		a, b = a.behindFirst(), b.behindFirst()
	}
	if !a.spans() && b.spans() {
		a, b = b, a
	}
	end, ok := a.common(b)
	return "/" + strings.Join(append(segments, end...), "/"), ok
}

// rest is a pattern without some of its first segments.
type rest struct {
	segments []Segment
	span     int
	exact    bool
}

func (p *Pattern) rest() rest { return rest{p.segments, p.span, p.exact} }

// hasOwn reports whether the next segment matches exactly one segment of a path.
func (r rest) hasOwn() bool { return len(r.segments) > 0 && !r.spans() }

// spans reports whether the next segment is an expression that spans segments.
func (r rest) spans() bool { return r.span == 0 }

func (r rest) behindFirst() rest {
	return rest{r.segments[1:], r.span - 1, r.exact}
}

// common returns segments that match the rests of two keys. If only one of them begins with an
// expression that spans segments, it is the first.
func (r rest) common(other rest) (segments []string, ok bool) {
	switch {
	case len(r.segments) == 0:
		return examples(other.segments), !r.exact || len(other.segments) == 0
	case len(other.segments) == 0:
		return examples(r.segments), !other.exact
	case other.span < 0:
		return commonWithSpan(r, other)
	}
	// Both have an expression that spans segments: each matches what the other has before its own.
	front := examples(other.segments[:other.span+1])
	end, ok := commonTail(r.segments[1:], other.segments[other.span+1:], r.exact, other.exact)
	return append(front, end...), ok
}

// commonTail is common for the segments after expressions that span segments.
func commonTail(a, b []Segment, exactA, exactB bool) (segments []string, ok bool) {
	if len(a) < len(b) {
		a, b, exactA, exactB = b, a, exactB, exactA
	}
	first := len(a) - len(b)
	end, fits := commonSegments(a[first:], b)
	switch {
	case fits:
		return append(examples(a[:first]), end...), true
	case !exactA:
		return append(examples(a), examples(b)...), true
	}
	return append(examples(b), examples(a)...), !exactB
}

// commonWithSpan is common for an expression that spans segments, and for segments without one.
func commonWithSpan(span, other rest) (segments []string, ok bool) {
	tail, own := span.segments[1:], other.segments
	if !other.exact && len(tail) > 0 {
		return append(examples(own), examples(tail)...), true
	}
	last := len(own) - len(tail) // where the tail begins at the latest
	first := last
	if !span.exact {
		first = min(1, last)
	}
	for at := max(first, 1); at <= last; at++ {
		if middle, fits := commonSegments(own[at:at+len(tail)], tail); fits {
			segments = append(examples(own[:at]), middle...)
			return append(segments, examples(own[at+len(tail):])...), true
		}
	}
	return nil, false
}

// commonSegments returns segments that match two keys with equally many segments, none of which
// spans several.
func commonSegments(a, b []Segment) (segments []string, ok bool) {
	for i := range a {
		segment, fits := commonSegment(&a[i], &b[i])
		if !fits {
			return nil, false
		}
		segments = append(segments, segment)
	}
	return segments, true
}

// commonSegment returns a segment that matches two segments, neither of which spans several.
func commonSegment(a, b *Segment) (segment string, ok bool) {
	if a.IsLiteral() {
		a, b = b, a
	}
	switch {
	case a.IsLiteral():
		return a.Prefix, a.Prefix == b.Prefix
	case b.IsLiteral():
		return b.Prefix, a.isAround(b.Prefix)
	}
	prefix, suffix := longer(a.Prefix, b.Prefix), longer(a.Suffix, b.Suffix)
	segment = prefix + "x" + suffix
	return segment, a.isAround(segment) && b.isAround(segment)
}

// isAround reports whether a canonical segment has the text around an expression.
func (s *Segment) isAround(segment string) bool {
	return len(segment) > s.LiteralLength() &&
		strings.HasPrefix(segment, s.Prefix) && strings.HasSuffix(segment, s.Suffix)
}

func longer(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}

// examples returns segments that match those of a key.
func examples(patterns []Segment) []string {
	segments := make([]string, len(patterns))
	for i := range patterns {
		p := &patterns[i]
		if segments[i] = p.Prefix; !p.IsLiteral() {
			segments[i] += "x" + p.Suffix
		}
	}
	return segments
}
