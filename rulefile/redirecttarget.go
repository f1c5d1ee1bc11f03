package rulefile

import (
	"errors"
	"strconv"
	"strings"
)

// redirectTarget is the destination of a line, cut where something stands for a part of the path.
type redirectTarget struct {
	pieces                []targetPiece
	isInternal            bool
	hasQuery, hasFragment bool
	// unknown is what looks like a placeholder and is none of the path's; "" for none.
	unknown string
}

// targetPiece is text of a destination, or what stands for a part of the path.
type targetPiece struct {
	text    string
	capture string // without the colon, "" for text
	part    targetPart
}

// targetPart is where in a destination something stands.
type targetPart uint8

const (
	inPath targetPart = iota // also in scheme and host
	inQuery
	inFragment
)

// newRedirectTarget cuts a destination at what is captured. Of two names with which a text begins,
// the one that stands first in the path counts.
func newRedirectTarget(
	to string, captured []string, dialect Dialect,
) (t redirectTarget, err error) {
	mark, markLength, captureAt := byte(':'), 0, captureAt
	if dialect == foreign {
		mark, markLength, captureAt = captureStart, 1, markedCaptureAt
	}
	t.isInternal = !isURL(to)
	pathAt := 0
	if !t.isInternal {
		_, behind, _ := strings.Cut(to, "://")
		pathAt = len(to)
		if i := strings.IndexAny(behind, "/?#"); i >= 0 {
			pathAt += i - len(behind)
		}
	}
	part, from := inPath, 0
	cut := func(end int) {
		if end > from {
			t.pieces = append(t.pieces, targetPiece{text: to[from:end], part: part})
		}
		from = end
	}
	for i := 0; i < len(to); i++ {
		switch c := to[i]; {
		case c == '?' && part == inPath:
			cut(i)
			part, t.hasQuery = inQuery, true
		case c == '#' && part != inFragment:
			cut(i)
			part, t.hasFragment = inFragment, true
		case c == mark:
			name := captureAt(to[i+1:], captured)
			if name == "" && dialect == foreign {
				return t, errors.New("the destination has a part of the path that is not captured there")
			}
			if name == "" {
				t.noteUnknown(to, i, pathAt, part)
				continue
			}
			if i < pathAt {
				return t, errors.New("a placeholder stands in the host of the destination, which no " +
					"request may choose; write a line for each host")
			}
			cut(i)
			t.pieces = append(t.pieces, targetPiece{capture: name, part: part})
			from = i + 1 + len(name) + markLength
			i = from - 1
		}
	}
	cut(len(to))
	return t, nil
}

// captureAt returns the first name with which a text begins.
func captureAt(text string, captured []string) string {
	for _, name := range captured {
		if strings.HasPrefix(text, name) {
			return name
		}
	}
	return ""
}

// noteUnknown takes down what looks like a placeholder, at the beginning of a segment.
func (t *redirectTarget) noteUnknown(to string, i, pathAt int, part targetPart) {
	if part == inPath && i > pathAt && to[i-1] == '/' {
		if found := placeholderAtStart.FindString(to[i:]); found != "" {
			t.unknown = found
		}
	}
}

// count returns how often something captured stands in a part of the destination, or in another.
func (t *redirectTarget) count(capture string) (inPathOnly, elsewhere int) {
	for _, p := range t.pieces {
		switch {
		case p.capture != capture:
		case p.part == inPath:
			inPathOnly++
		default:
			elsewhere++
		}
	}
	return inPathOnly, elsewhere
}

// endsInSplat reports whether the path of the destination ends in what a "*" matched, and has it
// nowhere else.
func (t *redirectTarget) endsInSplat() bool {
	last := t.lastOfPath()
	once, _ := t.count(splatName)
	return once == 1 && last.capture == splatName
}

// goesOn is endsInSplat for a "*" that stands for whole segments, and is not in the query either.
func (t *redirectTarget) goesOn() bool {
	_, elsewhere := t.count(splatName)
	if !t.endsInSplat() || elsewhere > 0 {
		return false
	}
	for i, p := range t.pieces {
		if p.capture == splatName {
			return i > 0 && strings.HasSuffix(t.pieces[i-1].text, "/")
		}
	}
	return false
}

func (t *redirectTarget) lastOfPath() (last targetPiece) {
	for _, p := range t.pieces {
		if p.part == inPath {
			last = p
		}
	}
	return last
}

// valuePart is a part of what stands for something captured: text, or a variable.
type valuePart struct {
	text, variable string
}

// write writes the destination with values in the place of what is captured. isTemplate tells that
// the key has variables.
func (t *redirectTarget) write(isTemplate bool, valueOf func(capture string) []valuePart) string {
	var b strings.Builder
	isEmpty, isBehind := false, false // the value in front; there is one in the path
	writeValue := func(p targetPiece, v valuePart) {
		if p.part == inPath && strings.HasSuffix(b.String(), "/") {
			v.text = strings.TrimPrefix(v.text, "/")
		}
		p.part.write(&b, v)
	}
	for _, p := range t.pieces {
		text := p.text
		if isTemplate {
			text = bracesEncoded.Replace(text)
		}
		if isBehind && strings.HasPrefix(text, "/") && strings.HasSuffix(b.String(), "/") {
			text = text[1:]
		}
		isBehind = p.capture != "" && p.part == inPath
		b.WriteString(text)
		if p.capture == "" {
			isEmpty = false
			continue
		}
		value := valueOf(p.capture)
		isEmpty = len(value) == 0
		for _, v := range value {
			writeValue(p, v)
		}
	}
	if isEmpty {
		return strings.TrimRight(b.String(), "?#")
	}
	return b.String()
}

// write writes a value. In a query it is encoded, so that it adds no parameter.
func (part targetPart) write(b *strings.Builder, v valuePart) {
	switch {
	case v.variable == "":
		b.WriteString(bracesEncoded.Replace(v.text))
	case part == inQuery:
		b.WriteString("{" + v.variable + "}")
	default:
		b.WriteString("{+" + v.variable + "}")
	}
}

// set returns the paths that an internal destination can have; ok is false where no key is for
// them. isFront asks for what stands in front of what a "*" matches, and all below that.
func (t *redirectTarget) set(isFront bool) (set pathSet, ok bool) {
	b := targetSet{pathSet: pathSet{splatAt: noSplat, below: isFront}}
	pieces := t.pathPieces()
	for i, p := range pieces {
		switch {
		case p.capture == "":
			ok = b.addText(p.text)
		case p.capture == splatName && isFront:
			return b.pathSet, true
		case p.capture == splatName:
			ok = b.addSplat(i == len(pieces)-1)
		default:
			ok = b.addVariable(false)
		}
		if !ok {
			return set, false
		}
	}
	b.endSegment()
	return b.pathSet, true
}

// targetSet takes the pieces of a destination's path.
type targetSet struct {
	pathSet
	current   setSegment
	variables int
}

// addText adds text. It reports false for an empty segment, which no line's path has.
func (s *targetSet) addText(text string) bool {
	for {
		segment, rest, isEnd := strings.Cut(text, "/")
		if s.current.isText() {
			s.current.before += segment
		} else {
			s.current.after += segment
		}
		if !isEnd {
			return true
		}
		if !s.endSegment() && len(s.segments) > 0 {
			return false
		}
		text = rest
	}
}

// addSplat adds what a "*" matches: all that is left, or segments of its own.
func (s *targetSet) addSplat(isLast bool) bool {
	switch isAlone := s.current == (setSegment{}); {
	case isLast && isAlone:
		s.below = true
		return true
	case isAlone:
		return s.addVariable(true)
	}
	s.below = isLast
	return isLast && s.addVariable(false)
}

// addVariable adds a variable. It reports false where its segment has one, and where there are more
// than a key can have.
func (s *targetSet) addVariable(spans bool) bool {
	isFirst := s.current.isText()
	s.current.name, s.current.spans = splatName, spans
	if s.variables++; s.variables > 1 {
		s.current.name += strconv.Itoa(s.variables)
	}
	return isFirst && s.variables < maxSegments
}

// endSegment ends a segment, and reports whether there is one.
func (s *targetSet) endSegment() bool {
	if s.current == (setSegment{}) {
		return false
	}
	s.segments = append(s.segments, s.current)
	s.current = setSegment{}
	return true
}

func (t *redirectTarget) pathPieces() (pieces []targetPiece) {
	for _, p := range t.pieces {
		if p.part == inPath {
			pieces = append(pieces, p)
		}
	}
	return pieces
}
