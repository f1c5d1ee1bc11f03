package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// splitPath is a pathname in segments. Segments are found, examined and numbered when they are
// first asked for. A chain of templates hands on what is known of them from hop to hop, for which
// they have no place of their own in the text: those that a capture takes are copied as they are.
//
//	text      /docs/%41bc/x
//	segments  docs, %41bc, x of 4, 5 and 1 bytes
type splitPath struct {
	text     string // begins with "/"
	segments []segment
	// common are facts that all segments have. There are none before all have been examined.
	common facts
	// isNumbered tells that the literals' numbers of all segments are known.
	isNumbered bool
	// lastIndex is the segment that was looked for last; lastSlash is the "/" in front of it.
	lastIndex, lastSlash int
}

// segment is a segment of a path, and what is known of it.
type segment struct {
	length uint32
	// literal is its number among the literal segments of all keys, 0 for none of them.
	literal uint32
	facts   facts
}

// facts are what is known of a segment, or of a part of one.
type facts uint8

const (
	// isNumbered: the literal's number is known.
	isNumbered facts = 1 << iota
	// isExamined: all that follow are known.
	isExamined
	// keptSimple and keptReserved: {x} and {+x} leave it as it is.
	keptSimple
	keptReserved
	// isShallow: none of its escapes stands for anything that R14 looks for, or for a "%".
	isShallow
	// isSafe: R14 does not refuse it.
	isSafe
	// isSolid: nor does R14 refuse what it makes together with something else that is safe.
	isSolid

	// ofParts are the facts that a text has whose parts have them.
	ofParts = isExamined | keptSimple | keptReserved | isShallow
	ofEmpty = ofParts | isSafe
)

// octetFacts are the facts that a text can have with an octet in it, as it is and percent-encoded.
// Like other tables of octets it is written once, here.
var octetFacts, escapedFacts = readOctetFacts()

func readOctetFacts() (asIs, escaped [256]facts) {
	for c := range 256 {
		asIs[c], escaped[c] = isExamined, ofParts
		if len(uritemplate.Simple.AppendRaw(nil, string([]byte{byte(c)}))) == 1 {
			asIs[c] |= keptSimple
		}
		if len(uritemplate.Reserved.AppendRaw(nil, string([]byte{byte(c)}))) == 1 {
			asIs[c] |= keptReserved
		}
		if c >= 0x20 && c != 0x7F && c != '\\' && c != '%' {
			asIs[c] |= isShallow
		}
		if c < 0x20 || strings.IndexByte("\x7F\\%./", byte(c)) >= 0 {
			escaped[c] &^= isShallow
		}
	}
	return asIs, escaped
}

// examine returns the facts of a text without "/".
func examine(text string) facts {
	found := ofParts
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			found &= octetFacts[text[i]]
		} else if octet, ok := weburl.Triplet(text, i); ok {
			found &= escapedFacts[octet]
			i += len("XX")
		} else {
			found &= octetFacts['%']
		}
	}
	return found | safety(text, found)
}

// safety returns whether R14 lets a text pass, and with it what it is joined to.
func safety(text string, found facts) (safe facts) {
	switch {
	case found&isShallow == 0:
		return deepSafety(text)
	case text != "" && text[0] != '.' || strings.Trim(text, ".") != "":
		return isSafe | isSolid
	case text == "." || text == "..":
		return 0
	}
	return isSafe
}

// deepSafety is the safety of a text that has to be decoded.
func deepSafety(text string) (safe facts) {
	var memory [128]byte
	switch passes, joins := decodeFully(text, memory[:0]); {
	case !passes || weburl.IsDotSegment(text):
		return 0
	case joins:
		return isSafe | isSolid
	}
	return isSafe
}

// has reports whether the path has an i-th segment, which is found if there is one.
func (p *splitPath) has(i int) bool {
	for len(p.segments) <= i {
		start := p.start(len(p.segments))
		if start > len(p.text) {
			return false
		}
		length := strings.IndexByte(p.text[start:], '/')
		if length < 0 {
			length = len(p.text) - start
		}
		p.add(segment{length: uint32(length)})
	}
	return true
}

// add adds a segment.
func (p *splitPath) add(s segment) {
	n := len(p.segments)
	if n == cap(p.segments) {
		p.grow(2*n + 16)
	}
	p.segments = p.segments[:n+1]
	p.segments[n] = s
}

// split finds all segments, and returns how many there are.
func (p *splitPath) split(w *work) int {
	found := len(p.segments)
	start := p.start(found)
	if start > len(p.text) {
		return found
	}
	rest := p.text[start:]
	n := found + strings.Count(rest, "/") + 1
	if n > cap(p.segments) {
		p.grow(n)
	}
	p.segments = p.segments[:n]
	for i := found; i < n-1; i++ {
		length := 8
		if len(rest) >= 8 {
			length = firstSlash(load64(rest)) // which is fast where segments are short
		}
		if length == 8 {
			length = strings.IndexByte(rest, '/')
		}
		p.segments[i] = segment{length: uint32(length)}
		rest = rest[length+1:]
	}
	p.segments[n-1] = segment{length: uint32(len(rest))}
	w.do(splitWork * (n - found))
	return n
}

// grow makes room for n segments. Other than append it lets memory that the caller has on its stack
// stay there.
func (p *splitPath) grow(n int) {
	grown := make([]segment, len(p.segments), n)
	copy(grown, p.segments)
	p.segments = grown
}

// start returns where the i-th segment begins, which is behind the text where there are i of them.
// It counts from the segment that was looked for last, or from an end of the path that is nearer.
func (p *splitPath) start(i int) int {
	index, slash := p.lastIndex, p.lastSlash
	switch n := len(p.segments); {
	case i < index-i:
		index, slash = 0, 0
	case p.common != 0 && n-i < i-index:
		index, slash = n, len(p.text)
	}
	for ; index < i; index++ {
		slash += int(p.segments[index].length) + 1
	}
	for ; index > i; index-- {
		slash -= int(p.segments[index-1].length) + 1
	}
	p.lastIndex, p.lastSlash = index, slash
	return slash + 1
}

// segment returns the text of the i-th segment.
func (p *splitPath) segment(i int) string {
	start := p.start(i)
	return p.text[start : start+int(p.segments[i].length)]
}

// examine examines the segments from one to another, of which there are as many.
func (p *splitPath) examine(from, to int, w *work) {
	if p.common != 0 {
		return
	}
	common := ofEmpty
	start := p.start(from)
	for i := from; i < to; i++ {
		s := &p.segments[i]
		if s.length == 0 {
			s.facts |= ofEmpty
		} else if s.facts&isExamined == 0 {
			text := p.text[start : start+int(s.length)]
			s.facts |= examine(text)
			w.do(examineWork(text, s.facts))
		}
		start += int(s.length) + 1
		common &= s.facts
	}
	if w.do(to - from); from == 0 && start > len(p.text) {
		p.common = common
	}
}

// factsOf returns facts that all segments from one to another have, among them those that are asked
// for, if they have them.
func (p *splitPath) factsOf(from, to int, asked facts, w *work) facts {
	if p.common&asked == asked {
		return p.common
	}
	common := ofEmpty
	for _, s := range p.segments[from:to] {
		common &= s.facts
	}
	w.do(to - from)
	return common
}

// examineWork is what it takes to examine a text.
func examineWork(text string, found facts) int {
	if found&isShallow == 0 {
		return compareWork + textWork(len(text)) + pathWork(text)
	}
	return compareWork + textWork(len(text))
}
