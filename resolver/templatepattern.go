package resolver

import (
	"iter"
	"slices"
)

// patternEdge leads over a segment with an expression to what keys have behind it.
type patternEdge struct {
	pattern segmentPattern
	node    templateNode
}

// patternEdges are those of a node. Where there are many, those that a segment may have are looked up by the text around their expression, for
// each length of it that there is.
type patternEdges struct {
	all     []*patternEdge
	byText  map[patternText]*patternEdge
	lengths []patternLength
}

type patternText struct{ prefix, suffix string }

type patternLength struct{ prefix, suffix int }

// few is how many edges are tried one after the other.
const few = 4

func (e *patternEdges) areMany() bool { return len(e.all) > few }

// edge returns the node behind a segment with an expression, which it makes if there is none.
func (e *patternEdges) edge(p *segmentPattern) *templateNode {
	text := patternText{p.prefix, p.suffix}
	if there := e.byText[text]; there != nil {
		return &there.node
	}
	if e.byText == nil {
		e.byText = map[patternText]*patternEdge{}
	}
	edge := &patternEdge{pattern: *p}
	e.all = append(e.all, edge)
	e.byText[text] = edge
	if length := (patternLength{len(p.prefix), len(p.suffix)}); !slices.Contains(e.lengths, length) {
		e.lengths = append(e.lengths, length)
	}
	return &edge.node
}

// among returns the edges whose text a canonical segment has around something.
func (e *patternEdges) among(segment string) iter.Seq[*patternEdge] {
	return func(yield func(*patternEdge) bool) {
		for _, length := range e.lengths {
			if length.prefix+length.suffix >= len(segment) {
				continue
			}
			edge := e.byText[patternText{segment[:length.prefix], segment[len(segment)-length.suffix:]}]
			if edge != nil && !yield(edge) {
				return
			}
		}
	}
}
