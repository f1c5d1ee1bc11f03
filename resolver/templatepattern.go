package resolver

import "slices"

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
	e.byText[patternText{p.prefix, p.suffix}] = edge
	length := patternLength{len(p.prefix), len(p.suffix)}
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
