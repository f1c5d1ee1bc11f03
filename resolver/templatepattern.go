package resolver

import (
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// segmentPattern is a segment of a template's key.
type segmentPattern struct {
	pattern.Segment
	literal uint32 // the number of literal text among that of all keys, 0 for none
}

// isLike reports whether two segments match the same.
func (s *segmentPattern) isLike(other *segmentPattern) bool {
	return s.IsLiteral() == other.IsLiteral() &&
		s.Prefix == other.Prefix && s.Suffix == other.Suffix
}

// patternEdge leads over a segment with an expression to what keys have behind it.
type patternEdge struct {
	pattern segmentPattern
	node    *templateNode
}

// patternEdges are those of a node. Where there are many, those that a segment may have are looked
// up by the text around their expression, for each length of it that there is.
type patternEdges struct {
	all     []*patternEdge
	byText  map[patternText]*patternEdge
	lengths []patternLength
	longest patternLength // of both parts
}

type patternText struct{ prefix, suffix string }

type patternLength struct{ prefix, suffix int }

func (l patternLength) sum() int { return l.prefix + l.suffix }

// few is how many edges are tried one after the other.
const few = 4

func (e *patternEdges) areMany() bool { return len(e.all) > few }

// add adds an edge, whose text no other has.
func (e *patternEdges) add(edge *patternEdge) {
	p := &edge.pattern
	if e.byText == nil {
		e.byText = map[patternText]*patternEdge{}
	}
	e.all = append(e.all, edge)
	e.byText[patternText{p.Prefix, p.Suffix}] = edge
	length := patternLength{len(p.Prefix), len(p.Suffix)}
	if !slices.Contains(e.lengths, length) {
		e.lengths = append(e.lengths, length)
		e.longest.prefix = max(e.longest.prefix, length.prefix)
		e.longest.suffix = max(e.longest.suffix, length.suffix)
	}
}

// find returns the edge whose text of some length a segment, in canonical units, has around
// something, or nil.
func (e *patternEdges) find(length patternLength, segment string) *patternEdge {
	text := patternText{segment[:length.prefix], segment[len(segment)-length.suffix:]}
	return e.byText[text]
}
