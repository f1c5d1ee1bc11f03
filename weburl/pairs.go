package weburl

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
)

// pairs are the name-value pairs of a merge, found by name. Names are compared as AppendForm writes
// them, in the buffer that is being appended to.
type pairs struct {
	list []pair
	// named is how many pairs, from the first, have been added with their names.
	named int
	// slots is an open-addressed index into list, or nil if list is short. 0 is empty, and i+1 is
	// list[i].
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

// none ends a chain of pairs with the same name.
const none = ^uint32(0)

// reset makes room for at most most pairs and their index.
func (p *pairs) reset(most int) {
	p.list, p.named = slices.Grow(p.list[:0], most), 0
	size := 1 << bits.Len(uint(2*most))
	if cap(p.slots) < size {
		p.slots = make([]uint32, size)
	}
	p.slots = p.slots[:size]
	clear(p.slots)
}

// find returns the index of the first named pair with the name, or -1.
func (p *pairs) find(buf []byte, name span) int {
	if p.slots != nil {
		return int(*p.slot(buf, name)) - 1
	}
	for i := range p.list[:p.named] {
		if bytes.Equal(p.list[i].name.bytesOf(buf), name.bytesOf(buf)) {
			return i
		}
	}
	return -1
}

// slot returns the slot of the name in the index, or the free one for it.
func (p *pairs) slot(buf []byte, name span) *uint32 {
	mask := len(p.slots) - 1
	for at := int(maphash.Bytes(p.seed, name.bytesOf(buf))) & mask; ; at = (at + 1) & mask {
		i := p.slots[at]
		if i == 0 || bytes.Equal(p.list[i-1].name.bytesOf(buf), name.bytesOf(buf)) {
			return &p.slots[at]
		}
	}
}

// add appends a pair with its name, and links it to the first one with that name.
func (p *pairs) add(buf []byte, added pair) {
	added.same = none
	at := uint32(len(p.list))
	if first := p.find(buf, added.name); first >= 0 {
		added.same = p.list[first].same
		p.list[first].same = at
	} else if p.slots != nil {
		*p.slot(buf, added.name) = at + 1
	}
	p.push(added)
	p.named++
}

// push appends to the list, which has room for all pairs from the start. An append that could grow
// it would keep it off the stack.
func (p *pairs) push(added pair) {
	p.list = p.list[:len(p.list)+1]
	p.list[len(p.list)-1] = added
}

// dropSame marks the later pairs with the name of the first one as gone.
func (p *pairs) dropSame(first int) {
	for i := p.list[first].same; i != none; i = p.list[i].same {
		p.list[i].gone = true
	}
	p.list[first].same = none
}
