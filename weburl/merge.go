package weburl

import (
	"hash/maphash"
	"strings"
	"sync"
)

// Merger combines two queries in one pass. It reuses the memory for large queries. The zero value
// is ready; a Merger is safe for concurrent use and must not be copied.
type Merger struct {
	large sync.Pool // of *pairs with an index
}

// AppendSet appends to dst the result of toString on URLSearchParams(base), after set(name, value)
// with each pair of over. Pairs of over are left out if base and protected have their name. Neither
// query begins with "?". Time is linear in the queries. Nothing is allocated if dst has room for
// twice the result.
func (m *Merger) AppendSet(dst []byte, base, over string, protected *Names) []byte {
	return m.append(dst, &merge{base: base, over: over, protected: protected})
}

// AppendPreserving appends the pieces of base and then those of over, as written and joined by "&".
// If both have pieces with the same decoded name, only those of over stay. If protected has the
// name, only those of base stay. Empty pieces are removed. Neither query begins with "?". Time is
// linear in the queries. Nothing is allocated if dst has room for twice the result.
func (m *Merger) AppendPreserving(dst []byte, base, over string, protected *Names) []byte {
	return m.append(dst, &merge{base: base, over: over, protected: protected, preserving: true})
}

// merge has the queries to combine, and the way to do it.
type merge struct {
	base, over string
	protected  *Names
	preserving bool
}

// fewPairs is how many pairs are searched one by one, without an index.
const fewPairs = 12

func (m *Merger) append(dst []byte, q *merge) []byte {
	most := strings.Count(q.base, "&") + strings.Count(q.over, "&") + 2
	if most <= fewPairs {
		var few [fewPairs]pair
		p := pairs{list: few[:0]}
		return p.append(dst, q)
	}
	p, _ := m.large.Get().(*pairs)
	if p == nil {
		p = &pairs{seed: maphash.MakeSeed()}
	}
	defer m.large.Put(p)
	p.reset(most)
	return p.append(dst, q)
}

func (p *pairs) append(dst []byte, q *merge) []byte {
	if q.preserving {
		return p.appendPreserving(dst, q)
	}
	return p.appendSet(dst, q)
}

// appendSet appends every pair as toString writes it. If one replaces another, all are written
// again, in the order that set leaves.
func (p *pairs) appendSet(dst []byte, q *merge) []byte {
	start := len(dst)
	for at := nextPiece(q.base, 0); !at.isEmpty(); at = nextPiece(q.base, at.end) {
		var added pair
		dst, added = appendPair(dst, start, at.textIn(q.base))
		p.add(dst, added)
	}
	ofBase, inOrder := p.named, true
	for at := nextPiece(q.over, 0); !at.isEmpty(); at = nextPiece(q.over, at.end) {
		var added pair
		end := len(dst)
		dst, added = appendPair(dst, start, at.textIn(q.over))
		switch first := p.find(dst, added.name); {
		case first < 0:
			p.add(dst, added)
		case first < ofBase && q.protected.has(added.name.bytesOf(dst)):
			dst = dst[:end]
		default:
			p.list[first].value = added.value
			p.dropSame(first)
			inOrder = false
		}
	}
	if inOrder {
		return dst
	}
	return p.rewrite(dst, start, q)
}

// appendPair appends a piece as toString writes it, after a separator unless dst ends at start.
func appendPair(dst []byte, start int, piece string) ([]byte, pair) {
	if len(dst) > start {
		dst = append(dst, '&')
	}
	name, value, _ := strings.Cut(piece, "=")
	var appended pair
	dst, appended.name = appendHalf(dst, name)
	dst = append(dst, '=')
	dst, appended.value = appendHalf(dst, value)
	return dst, appended
}

// appendHalf appends the name or the value of a piece, and returns its place.
func appendHalf(dst []byte, half string) ([]byte, span) {
	start := len(dst)
	dst = AppendForm(dst, half)
	return dst, span{uint32(start), uint32(len(dst))}
}

// appendPreserving appends the names of base, and then replaces them by the pieces that stay.
// Pieces of over are searched among the names.
func (p *pairs) appendPreserving(dst []byte, q *merge) []byte {
	start := len(dst)
	for at := nextPiece(q.base, 0); !at.isEmpty(); at = nextPiece(q.base, at.end) {
		added := pair{value: at}
		dst, added.name = appendHalf(dst, writtenName(at.textIn(q.base)))
		p.add(dst, added)
	}
	for at := nextPiece(q.over, 0); !at.isEmpty(); at = nextPiece(q.over, at.end) {
		added := pair{value: at, over: true, same: none}
		if p.named > 0 {
			added.gone = p.displace(dst, writtenName(at.textIn(q.over)), q.protected)
		}
		p.push(added)
	}
	return p.rewrite(dst, start, q)
}

func writtenName(piece string) string {
	name, _, _ := strings.Cut(piece, "=")
	return name
}

// displace removes the pairs of base that have the name of a piece of over. If the name is
// protected, it reports that this piece has to go.
func (p *pairs) displace(dst []byte, written string, protected *Names) bool {
	dst, name := appendHalf(dst, written)
	first := p.find(dst, name)
	if first < 0 {
		return false
	}
	if protected.has(name.bytesOf(dst)) {
		return true
	}
	p.list[first].gone = true
	p.dropSame(first)
	return false
}

// rewrite writes the pairs that are not gone, in their order, and moves them to start.
func (p *pairs) rewrite(dst []byte, start int, q *merge) []byte {
	end := len(dst)
	for i := range p.list {
		if p.list[i].gone {
			continue
		}
		if len(dst) > end {
			dst = append(dst, '&')
		}
		dst = p.list[i].appendTo(dst, q)
	}
	n := copy(dst[start:], dst[end:])
	return dst[:start+n]
}

// appendTo appends a pair whose name and value are in dst, or while preserving, whose piece is in
// its query.
func (one *pair) appendTo(dst []byte, q *merge) []byte {
	switch {
	case !q.preserving:
		dst = append(dst, one.name.bytesOf(dst)...)
		dst = append(dst, '=')
		return append(dst, one.value.bytesOf(dst)...)
	case one.over:
		return append(dst, one.value.textIn(q.over)...)
	}
	return append(dst, one.value.textIn(q.base)...)
}
