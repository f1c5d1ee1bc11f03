package resolver

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// templateSpan is an expression that spans segments, and what keys have behind it.
type templateSpan struct {
	rule *templateRule // whose key ends in the expression
	// tails are those of all keys. First come those that end in an expression, of which there are
	// some in the first few of tails, then those that end in text. ending are the numbers of the
	// first tails with a literal segment at the end, and of the one behind the last.
	tails  []templateTails
	always int
	ending numberTable
}

// templateTails finds where the segments stand that keys have behind an expression that spans
// segments. It looks from the end of a path on, as the last place leaves least of the path. Each
// segment of each tail has a bit of a word, the last one of a tail the lowest, and the search takes
// a few instructions for each segment of the path, whatever tails have in common (shift-and):
//
//	keys                   {+x}/a/{y}/b  {+x}/edit
//	segments, lowest first   b  {y}  a     edit
//	last                     1   0   0      1      where the search for a tail begins
//	first                    0   0   1      1      where it ends: the tail has been found
//	accept of "b"            1   1   0      0
//
// As many tails as fit into a word are looked for at once.
type templateTails struct {
	tails       []templateTail // in the order of their bits
	last, first uint64
	// ends has a bit for each number that a tail's last segment takes, that of its lowest six bits.
	ends uint64
	// accept are the bits that take a segment by its number. any are those that take every one but
	// an empty one.
	accept numberTable
	any    uint64
	// texts are the bits of expressions with text around them, which are the patterns.
	texts    uint64
	patterns map[int]*segmentPattern
	longest  int // how many segments the longest key has
}

type templateTail struct {
	rule   *templateRule
	length int
	longer uint64 // the first bits of longer tails
}

// newTemplateSpan returns what keys, which are the same up to a place, have from an expression on
// that spans segments.
func newTemplateSpan(rules []*templateRule, at int) *templateSpan {
	span := &templateSpan{}
	ends := func(t *templateRule) uint32 { return t.segments[len(t.segments)-1].literal }
	byEnd := func(a, b *templateRule) int { return cmp.Compare(ends(a), ends(b)) }
	slices.SortStableFunc(rules, byEnd)
	ending := map[uint32]uint64{} // the first and the one behind the last
	used := pattern.MaxSegments
	for _, t := range rules {
		tail := t.segments[at+1:]
		if len(tail) == 0 {
			span.rule = t
			continue
		}
		if used+len(tail) > pattern.MaxSegments {
			span.tails = append(span.tails, templateTails{})
			used = 0
		}
		n := len(span.tails)
		span.tails[n-1].add(t, tail, used)
		used += len(tail)
		if end := ends(t); end == 0 {
			span.always = n
		} else if first, ok := ending[end]; ok {
			ending[end] = first>>32<<32 | uint64(n)
		} else {
			ending[end] = uint64(n-1)<<32 | uint64(n)
		}
	}
	for i := range span.tails {
		span.tails[i].settle()
	}
	span.ending = newNumberTable(ending, 0)
	return span
}

// add adds a tail, with its last segment at a bit.
func (x *templateTails) add(t *templateRule, tail []segmentPattern, at int) {
	first := at + len(tail) - 1
	x.last |= 1 << at
	x.first |= 1 << first
	x.tails = append(x.tails, templateTail{rule: t, length: len(tail)})
	x.longest = max(x.longest, t.OwnSegments())
	for i := range tail {
		p, bit := &tail[i], first-i
		switch {
		case p.IsLiteral():
		case p.LiteralLength() == 0:
			x.any |= 1 << bit
		default:
			x.texts |= 1 << bit
			if x.patterns == nil {
				x.patterns = map[int]*segmentPattern{}
			}
			x.patterns[bit] = p
		}
	}
}

// settle finds out what takes literal segments, and which tails are longer than others.
func (x *templateTails) settle() {
	accept := map[uint32]uint64{emptySegment: 0, 0: 0}
	end := 0
	for i := range x.tails {
		tail := &x.tails[i]
		segments := tail.rule.segments[len(tail.rule.segments)-tail.length:]
		end += tail.length
		for j := range segments {
			if literal := segments[j].literal; segments[j].IsLiteral() {
				accept[literal] |= 1 << (end - 1 - j)
			}
		}
		bit := 0
		for _, other := range x.tails {
			if bit += other.length; other.length > tail.length {
				tail.longer |= 1 << (bit - 1)
			}
		}
	}
	for literal := range accept {
		if literal != emptySegment {
			accept[literal] |= x.any
		}
	}
	x.accept = newNumberTable(accept, x.any)
	if (x.any|x.texts)&x.last != 0 {
		x.ends = math.MaxUint64
	}
	for literal, bits := range accept {
		if bits&x.last != 0 {
			x.ends |= 1 << (literal & 63)
		}
	}
}

// visitTails looks for the tails behind an expression that spans segments, whose first one is at a
// place of the path.
func (s *templateSearch) visitTails(n *templateSpan, at int) {
	s.path.split(s.work)
	s.index.numberAll(s.path, s.work)
	if len(n.tails) <= few {
		for i := range n.tails {
			s.scan(&n.tails[i], at)
		}
		return
	}
	for i := range n.tails[:n.always] {
		s.scan(&n.tails[i], at)
	}
	done := make([]bool, len(n.tails))
	s.work.do(copyWork(len(n.tails)))
	for i := len(s.path.segments) - 1; i > at && s.work.do(scanWork); i-- {
		number := s.path.segments[i].literal
		if number == 0 {
			continue
		}
		s.work.do(2 * scanWork)
		ending := n.ending.find(number)
		for j := max(int(ending>>32), n.always); j < int(uint32(ending)); j++ {
			if !done[j] {
				s.scan(&n.tails[j], at)
			}
			done[j] = true
		}
	}
}

// scan looks for tails behind an expression that spans segments, whose first one is at a place of
// the path, from the path's end on.
func (s *templateSearch) scan(x *templateTails, at int) {
	if s.work.isSpent() || s.best.rule != nil && s.best.segments > x.longest {
		return
	}
	first := at + 1
	if s.path.segments[at].length == 0 {
		first++ // as the expression takes something
	}
	if first >= len(s.path.segments) {
		return
	}
	segments := s.path.segments[first:]
	places, last, ends, texts := x.accept.places, x.last, x.ends, x.texts
	state, live, steps := uint64(0), x.first, 0
	i := len(segments) - 1
	for ; i >= 0; i-- {
		number := segments[i].literal
		if state == 0 && ends>>(number&63)&1 == 0 {
			continue
		}
		steps++
		place := &places[int(number)&(len(places)-1)]
		accept := place.value
		if place.number != number {
			accept = x.accept.find(number)
		}
		begun := state<<1 | last
		state = begun & accept
		if begun&texts|state&live == 0 {
			continue
		}
		if begun&texts != 0 {
			state |= s.matchTexts(x, begun&texts, first+i)
		}
		if live = s.offerTails(x, state&live, live, at, first+i); live == 0 {
			break
		}
	}
	s.work.do(scanWork*(len(segments)-i) + 2*scanWork*steps)
}

// matchTexts returns those of the bits of expressions with text around them that take a segment.
func (s *templateSearch) matchTexts(x *templateTails, among uint64, at int) (taken uint64) {
	for ; among != 0; among &= among - 1 {
		bit := bits.TrailingZeros64(among)
		if s.matches(x.patterns[bit], at) {
			taken |= 1 << bit
		}
	}
	return taken
}

// offerTails takes the tails that have been found at a place of the path. It returns the bits of
// those that are still to be looked for: only longer ones can be better further on.
func (s *templateSearch) offerTails(x *templateTails, found, live uint64, span, at int) uint64 {
	for ; found != 0; found &= found - 1 {
		bit := bits.TrailingZeros64(found)
		tail := &x.tails[bits.OnesCount64(x.first&(1<<bit-1))]
		end := at + tail.length
		if s.offer(tail.rule, span+tail.length, end, s.path.start(end)-1) {
			live &= tail.longer
		} else {
			live &^= 1 << bit // it is exact, and there is more to come
		}
	}
	return live
}

// numberTable is an open-addressed table of values by number. Numbers that follow each other, as
// those of a key's segments do, are found at once.
type numberTable struct {
	places []numberPlace // a power of two of them
	other  uint64        // the value of all numbers that have none
}

type numberPlace struct {
	value  uint64
	number uint32 // noNumber where the place is free
}

const noNumber = math.MaxUint32

// newNumberTable returns a table that is half empty at least.
func newNumberTable(values map[uint32]uint64, other uint64) numberTable {
	size := 2
	for size < 2*len(values) {
		size *= 2
	}
	t := numberTable{slices.Repeat([]numberPlace{{other, noNumber}}, size), other}
	for _, number := range slices.Sorted(maps.Keys(values)) {
		t.places[t.place(number)] = numberPlace{values[number], number}
	}
	return t
}

// place returns where a number is, or the free place where it would be.
func (t *numberTable) place(number uint32) int {
	mask := len(t.places) - 1
	at := int(number) & mask
	for t.places[at].number != noNumber && t.places[at].number != number {
		at = (at + 1) & mask
	}
	return at
}

// find returns the value of a number.
func (t *numberTable) find(number uint32) uint64 { return t.places[t.place(number)].value }
