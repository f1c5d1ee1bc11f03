package resolver

import "github.com/caddy-shortlink/shortlink/uritemplate"

// expansion is the path of a template's value while captures are put into it. What is known of
// segments that are captured whole is known of those of the new path.
type expansion struct {
	text     []byte
	segments []segment
	common   facts // that all segments have
	// open is what is known of the segment at the end, which may go on.
	open     segment
	start    int  // where it begins
	parts    int  // of it that are not empty
	captured bool // at least one of them
	unsafe   bool // R14 refuses the path
	// numbers is where segments have their numbers, where those of the path that is expanded are
	// known. Then all of the new path's are.
	numbers *templateIndex
	work    *work
}

// expand puts captures of a path into the path of a value. It uses the memory of an earlier path.
func (e *expansion) expand(
	v *templateValue, captures []capture, p *splitPath, x *templateIndex, w *work,
) {
	*e = expansion{
		text: append(e.text[:0], '/'), segments: e.segments[:0], common: ofEmpty, start: 1, work: w,
	}
	if p.isNumbered {
		e.numbers = x
	}
	for i := range v.path {
		piece := &v.path[i]
		literal := piece.literal
		if i == 0 {
			literal = literal[1:] // the "/" is there
		}
		e.append(literal, piece.segments, piece.common, false)
		if piece.slot >= 0 {
			e.appendCapture(&captures[piece.slot], piece.operator, p)
		}
	}
	e.close()
	w.do(copyWork(len(e.text)) + len(e.segments))
}

// path returns the path that has been made.
func (e *expansion) path() splitPath {
	return splitPath{
		text: text(e.text), segments: e.segments, common: e.common, isNumbered: e.numbers != nil,
	}
}

// appendCapture appends a capture as an operator leaves it.
func (e *expansion) appendCapture(c *capture, operator uritemplate.Operator, p *splitPath) {
	kept := keptSimple
	if operator.AllowsReserved() {
		kept = keptReserved
	}
	if c.to == 0 {
		p.split(e.work)
		c.count(p)
	}
	p.examine(c.from, c.to, e.work)
	found := c.facts
	if !c.isPart {
		found = p.factsOf(c.from, c.to, kept|isSafe, e.work)
	} else if found&kept == 0 {
		found = examine(c.text)
		e.work.do(examineWork(c.text, found))
	}
	switch {
	case found&kept == 0 || kept == keptSimple && c.to-c.from > 1:
		e.appendEncoded(operator.AppendRaw([]byte("/"), c.text))
	case c.isPart:
		part := segment{length: uint32(len(c.text)), facts: found}
		e.append(c.text, []segment{part}, found, true)
	default:
		e.append(c.text, p.segments[c.from:c.to], found, true)
	}
}

// appendEncoded appends what becomes of a capture that an operator does not leave as it is, with a
// "/" in front.
func (e *expansion) appendEncoded(encoded []byte) {
	p := splitPath{text: text(encoded)}
	p.examine(0, p.split(e.work), e.work)
	if e.numbers != nil {
		e.numbers.numberAll(&p, e.work)
	}
	e.work.do(textWork(len(encoded)))
	e.append(p.text[1:], p.segments, p.common, true)
}

// append appends text in segments, which have some facts in common; the first of them goes on with
// the one that is open.
func (e *expansion) append(text string, segments []segment, common facts, captured bool) {
	e.text = append(e.text, text...)
	e.join(segments[0], captured)
	last := len(segments) - 1
	if last == 0 {
		return
	}
	e.close()
	e.segments = append(e.segments, segments[1:last]...)
	e.common &= common
	e.start = len(e.text) - int(segments[last].length)
	e.join(segments[last], captured)
}

// join adds a part to the open segment.
func (e *expansion) join(part segment, captured bool) {
	switch {
	case part.length == 0:
		return
	case e.parts == 0:
		e.open = part
	default:
		e.open.length += part.length
		e.open.literal = 0
		e.open.facts = joinedFacts(e.open.facts, part.facts)
	}
	e.parts++
	e.captured = e.captured || captured
}

// joinedFacts are the facts of a text of two parts.
func joinedFacts(a, b facts) facts {
	joined := a & b & ofParts
	if a&isSafe != 0 && a&isSolid != 0 && b&isSafe != 0 {
		joined |= isSafe | b&isSolid
	}
	return joined
}

// close ends the open segment, and begins the next one.
func (e *expansion) close() {
	s := e.open
	if e.parts == 0 {
		s = segment{literal: emptySegment, facts: ofEmpty | isNumbered}
	}
	end := e.start + int(s.length)
	text := text(e.text[e.start:end])
	if e.captured && s.facts&isSafe == 0 {
		if s.facts&isShallow == 0 {
			e.work.do(pathWork(text))
		}
		s.facts |= safety(text, s.facts)
		e.unsafe = e.unsafe || s.facts&isSafe == 0
	}
	if e.numbers != nil {
		e.numbers.number(&s, text, e.work)
	}
	e.segments = append(e.segments, s)
	e.common &= s.facts
	e.open, e.start, e.parts, e.captured = segment{}, end+1, 0, false
}
