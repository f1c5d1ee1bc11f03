package weburl

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// Merger combines two queries in one pass. It keeps the memory that large
// queries need, to use it again. The zero value is ready; a Merger is safe for
// concurrent use and must not be copied.
type Merger struct {
	large sync.Pool // of *pairs with an index
}

// Names is a set of decoded parameter names. The zero value and nil are empty.
type Names struct {
	all   bool
	forms map[string]struct{} // as AppendForm writes them
}

// NewNames returns the set of names; "*" stands for every name.
func NewNames(names ...string) *Names {
	set := &Names{forms: make(map[string]struct{}, len(names))}
	for _, name := range names {
		if name == "*" {
			set.all = true
		}
		set.forms[string(formOf(name))] = struct{}{}
	}
	return set
}

// Has reports whether the set has the decoded name.
func (n *Names) Has(name string) bool {
	return n != nil && n.has(formOf(name))
}

// formOf returns a decoded name as AppendForm writes it.
func formOf(name string) []byte {
	form := Params{{Name: name}}.String()
	return []byte(strings.TrimSuffix(form, "="))
}

func (n *Names) has(form []byte) bool {
	if n == nil {
		return false
	}
	if n.all {
		return true
	}
	_, ok := n.forms[string(form)]
	return ok
}

// AppendSet appends to dst what toString returns for new URLSearchParams(base)
// after set(name, value) with each pair of over in turn. Pairs of over are left
// out where base has their name and protected has it, too. Neither query begins
// with "?". Time is linear in the queries; nothing is allocated when dst has room
// for twice what is written.
func (m *Merger) AppendSet(dst []byte, base, over string, protected *Names) []byte {
	if most := mostPieces(base, over); most > fewPairs {
		p := m.largePairs(most)
		defer m.large.Put(p)
		return p.appendSet(dst, base, over, protected)
	}
	var few [fewPairs]pair
	p := pairs{list: few[:0]}
	return p.appendSet(dst, base, over, protected)
}

// AppendPreserving appends to dst the pieces of base and then those of over, as
// they are written, joined by "&". Of the pieces with one decoded name only over's
// stay, or only base's where protected has the name. Empty pieces go. Neither
// query begins with "?". Time is linear in the queries; nothing is allocated when
// dst has room for twice what is written.
func (m *Merger) AppendPreserving(dst []byte, base, over string, protected *Names) []byte {
	if most := mostPieces(base, over); most > fewPairs {
		p := m.largePairs(most)
		defer m.large.Put(p)
		return p.appendPreserving(dst, base, over, protected)
	}
	var few [fewPairs]pair
	p := pairs{list: few[:0]}
	return p.appendPreserving(dst, base, over, protected)
}

// fewPairs is how many pairs are searched one by one, without an index.
const fewPairs = 12

// none ends a chain of pairs with the same name.
const none = ^uint32(0)

// pairs are the name-value pairs of a merge, found by name. Names are compared as
// AppendForm writes them, in the buffer that is being appended to.
type pairs struct {
	list []pair
	// slots is an open-addressed index into list, 0 for empty and i+1 for list[i];
	// nil where the list is short.
	slots []uint32
	seed  maphash.Seed
}

type pair struct {
	name  span // in the buffer
	value span // in the buffer; while preserving, the whole piece in its query
	same  uint32
	over  bool
	gone  bool
}

type span struct{ start, end uint32 }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

func mostPieces(base, over string) int {
	return strings.Count(base, "&") + strings.Count(over, "&") + 2
}

func (m *Merger) largePairs(most int) *pairs {
	p, _ := m.large.Get().(*pairs)
	if p == nil {
		p = &pairs{seed: maphash.MakeSeed()}
	}
	p.list = slices.Grow(p.list[:0], most)
	size := 1 << bits.Len(uint(2*most))
	if cap(p.slots) < size {
		p.slots = make([]uint32, size)
	}
	p.slots = p.slots[:size]
	clear(p.slots)
	return p
}

// find returns the index of the first pair with the name, or -1.
func (p *pairs) find(buf []byte, name span) int {
	if p.slots == nil {
		for i := range p.list {
			if bytes.Equal(p.list[i].name.of(buf), name.of(buf)) {
				return i
			}
		}
		return -1
	}
	return int(*p.slot(buf, name)) - 1
}

// slot returns the place in the index that holds the name, or the free one for it.
func (p *pairs) slot(buf []byte, name span) *uint32 {
	mask := len(p.slots) - 1
	for at := int(maphash.Bytes(p.seed, name.of(buf))) & mask; ; at = (at + 1) & mask {
		i := p.slots[at]
		if i == 0 || bytes.Equal(p.list[i-1].name.of(buf), name.of(buf)) {
			return &p.slots[at]
		}
	}
}

// add appends a pair, behind the first one with its name where there is one.
func (p *pairs) add(buf []byte, new pair) {
	new.same = none
	at := uint32(len(p.list))
	if first := p.find(buf, new.name); first >= 0 {
		new.same = p.list[first].same
		p.list[first].same = at
	} else if p.slots != nil {
		*p.slot(buf, new.name) = at + 1
	}
	p.push(new)
}

// push appends to the list, which has room for all pairs from the start: an append that could
// grow it would keep it off the stack.
func (p *pairs) push(new pair) {
	p.list = p.list[:len(p.list)+1]
	p.list[len(p.list)-1] = new
}

// dropSame marks the later pairs with the name of the first one as gone.
func (p *pairs) dropSame(first int) {
	for i := p.list[first].same; i != none; i = p.list[i].same {
		p.list[i].gone = true
	}
	p.list[first].same = none
}

func (p *pairs) appendSet(dst []byte, base, over string, protected *Names) []byte {
	start := len(dst)
	for piece := ""; base != ""; {
		if piece, base = cutPiece(base); piece != "" {
			var new pair
			dst, new = appendPair(dst, start, piece)
			p.add(dst, new)
		}
	}
	ofBase, inOrder := len(p.list), true
	for piece := ""; over != ""; {
		if piece, over = cutPiece(over); piece == "" {
			continue
		}
		var new pair
		end := len(dst)
		dst, new = appendPair(dst, start, piece)
		switch first := p.find(dst, new.name); {
		case first < 0:
			p.add(dst, new)
		case first < ofBase && protected.has(new.name.of(dst)):
			dst = dst[:end]
		default:
			p.list[first].value = new.value
			p.dropSame(first)
			inOrder = false
		}
	}
	if inOrder {
		return dst
	}
	return p.rewrite(dst, start)
}

// appendPair appends a piece as toString writes it, set apart from what stands
// between start and the end of dst.
func appendPair(dst []byte, start int, piece string) ([]byte, pair) {
	if len(dst) > start {
		dst = append(dst, '&')
	}
	name, value, _ := strings.Cut(piece, "=")
	var new pair
	new.name.start = uint32(len(dst))
	dst = AppendForm(dst, name)
	new.name.end = uint32(len(dst))
	dst = append(dst, '=')
	new.value.start = uint32(len(dst))
	dst = AppendForm(dst, value)
	new.value.end = uint32(len(dst))
	return dst, new
}

// rewrite writes the pairs in their order, and moves them to start.
func (p *pairs) rewrite(dst []byte, start int) []byte {
	end := len(dst)
	for i := range p.list {
		if p.list[i].gone {
			continue
		}
		if len(dst) > end {
			dst = append(dst, '&')
		}
		dst = append(dst, p.list[i].name.of(dst)...)
		dst = append(dst, '=')
		dst = append(dst, p.list[i].value.of(dst)...)
	}
	return moveDown(dst, start, end)
}

func (p *pairs) appendPreserving(dst []byte, base, over string, protected *Names) []byte {
	start := len(dst)
	dst = p.addRaw(dst, base)
	ofBase := len(p.list)
	for rest, piece := over, ""; rest != ""; {
		at := len(over) - len(rest)
		if piece, rest = cutPiece(rest); piece == "" {
			continue
		}
		raw := pair{over: true, same: none, value: span{uint32(at), uint32(at + len(piece))}}
		if ofBase > 0 {
			raw.gone = p.displace(dst, piece, ofBase, protected)
		}
		p.push(raw)
	}
	return p.rewriteRaw(dst, start, base, over)
}

// addRaw adds the pieces of base, and appends their names to dst.
func (p *pairs) addRaw(dst []byte, base string) []byte {
	for rest, piece := base, ""; rest != ""; {
		at := len(base) - len(rest)
		if piece, rest = cutPiece(rest); piece == "" {
			continue
		}
		new := pair{value: span{uint32(at), uint32(at + len(piece))}}
		dst, new.name = appendName(dst, piece)
		p.add(dst, new)
	}
	return dst
}

func appendName(dst []byte, piece string) ([]byte, span) {
	name, _, _ := strings.Cut(piece, "=")
	start := uint32(len(dst))
	dst = AppendForm(dst, name)
	return dst, span{start, uint32(len(dst))}
}

// displace takes those of the first n pairs away that have the name of piece, or
// reports that piece itself has to go, as its name is protected.
func (p *pairs) displace(dst []byte, piece string, n int, protected *Names) bool {
	dst, name := appendName(dst, piece)
	first := p.findAmong(dst, name, n)
	if first < 0 {
		return false
	}
	if protected.has(name.of(dst)) {
		return true
	}
	p.list[first].gone = true
	p.dropSame(first)
	return false
}

// findAmong is find among the first n pairs, the only ones in the index.
func (p *pairs) findAmong(buf []byte, name span, n int) int {
	if p.slots != nil {
		return p.find(buf, name)
	}
	among := pairs{list: p.list[:n]}
	return among.find(buf, name)
}

// rewriteRaw writes the pieces that stay, and moves them to start.
func (p *pairs) rewriteRaw(dst []byte, start int, base, over string) []byte {
	end := len(dst)
	for i := range p.list {
		if p.list[i].gone {
			continue
		}
		if len(dst) > end {
			dst = append(dst, '&')
		}
		query := base
		if p.list[i].over {
			query = over
		}
		dst = append(dst, query[p.list[i].value.start:p.list[i].value.end]...)
	}
	return moveDown(dst, start, end)
}

// moveDown moves what follows end to start.
func moveDown(dst []byte, start, end int) []byte {
	n := copy(dst[start:], dst[end:])
	return dst[:start+n]
}

// cutPiece returns what stands before the first "&", and what follows it.
func cutPiece(query string) (piece, rest string) {
	piece, rest, _ = strings.Cut(query, "&")
	return piece, rest
}
