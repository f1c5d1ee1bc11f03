package pattern

import (
	"cmp"
	"math"
	"strings"
)

// MaxSegments is the maximum number of segments of a key with variables.
const MaxSegments = 64

// Pattern is the key of a rule, taken apart. Keys without variables are patterns, too. Make one
// with [Parse]:
//
//	post-{1}/a/{+2}    post-{1}   a   {+2}
//	                   segments       the span
type Pattern struct {
	key       string
	segments  []Segment
	span      int // the segment that takes several of a path's, -1 for none
	variables int
	exact     bool
}

// Segment is a segment of a key: literal text, or an expression with literal text around it.
type Segment struct {
	// Prefix and Suffix are that text; of a literal segment, Prefix is all of it.
	Prefix, Suffix string
	// Slot is the index of the expression's variable among those of the key, or -1 without an
	// expression.
	Slot int
}

// IsLiteral reports whether the segment has no expression.
func (s *Segment) IsLiteral() bool { return s.Slot < 0 }

// LiteralLength is the length of the literal text.
func (s *Segment) LiteralLength() int { return len(s.Prefix) + len(s.Suffix) }

// Parse splits a canonical key, as CanonicalKey of package resolver returns it. exact says whether
// its rule is exact. The names of variables have no meaning.
func Parse(key string, exact bool) *Pattern {
	p := &Pattern{key: key, span: -1, exact: exact}
	p.segments = make([]Segment, 0, strings.Count(key, "/")+1)
	for text := range strings.SplitSeq(key, "/") {
		segment := Segment{Prefix: text, Slot: -1}
		if before, expression, ok := strings.Cut(text, "{"); ok {
			variable, behind, _ := strings.Cut(expression, "}")
			if strings.HasPrefix(variable, "+") {
				p.span = len(p.segments)
			}
			segment = Segment{before, behind, p.variables}
			p.variables++
		}
		p.segments = append(p.segments, segment)
	}
	return p
}

// Key returns the canonical key.
func (p *Pattern) Key() string { return p.key }

// Segments returns the segments of the key, which must not be changed.
func (p *Pattern) Segments() []Segment { return p.segments }

// Span returns the index of the segment that spans several segments of a path, or -1.
func (p *Pattern) Span() int { return p.span }

// IsTemplate reports whether the key has variables.
func (p *Pattern) IsTemplate() bool { return p.variables > 0 }

// OwnSegments is the number of segments that do not span several of a path.
func (p *Pattern) OwnSegments() int {
	if p.span >= 0 {
		return len(p.segments) - 1
	}
	return len(p.segments)
}

// Compare orders two keys by which one answers for paths that match both, that one first. It is the
// longer key, the one that leaves less of a path, the one without variables, or the one with more
// literal text. An expression that spans segments counts as the end of its key; the segments after
// it can make a path decide differently.
func (p *Pattern) Compare(other *Pattern) int {
	return cmp.Or(
		cmp.Compare(other.OwnSegments(), p.OwnSegments()),
		compareBool(other.span >= 0, p.span >= 0),
		compareBool(p.IsTemplate(), other.IsTemplate()),
		p.CompareSegments(other),
	)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// CompareSegments is Compare for keys that match equally much of a path, segment by segment.
// Literal segments precede expressions, more literal text precedes less, and expressions that span
// segments come last.
func (p *Pattern) CompareSegments(other *Pattern) int {
	for i := range min(len(p.segments), len(other.segments)) {
		if c := cmp.Compare(other.weight(i), p.weight(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(p.segments), len(other.segments))
}

// weight is the rank of the i-th segment in CompareSegments.
func (p *Pattern) weight(i int) int {
	s := &p.segments[i]
	switch {
	case s.IsLiteral():
		return math.MaxInt
	case i == p.span:
		return 0
	}
	return 1 + s.LiteralLength()
}
