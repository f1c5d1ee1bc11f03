package resolver

import (
	"iter"
	"math/bits"
)

// heads are numbers by hash, in an open-addressed table whose pages are shared by those that are
// derived from one another. Hashes that differ in their higher half alone may count as one.
type heads struct {
	// entries have the lower half of a hash, never 0, and a number. 0 is an empty one.
	entries pages[uint64]
	taken   int // entries that are not empty
}

// newHeads returns a table with room for so many hashes.
func newHeads(n int) heads { return heads{entries: makePages[uint64](n*2 + 64)} }

// haveRoom reports whether there is room for more hashes.
func (h *heads) haveRoom(more int) bool {
	return h.taken+more < h.entries.n-h.entries.n/8
}

func (h *heads) branch() heads { return heads{h.entries.branch(), h.taken} }

// find returns the place of a hash, or where it would be.
func (h *heads) find(hash uint64) (at int, tag uint64) {
	tag = max(hash<<32, 1<<32)
	high, _ := bits.Mul64(mix(hash, 0xc2b2ae3d27d4eb4f), uint64(h.entries.n))
	for at = int(high); ; at++ {
		if at == h.entries.n {
			at = 0
		}
		if e := h.entries.at(at); e == 0 || e>>32<<32 == tag {
			return at, tag
		}
	}
}

// first returns the number of a hash, 0 for none.
func (h *heads) first(hash uint64) uint32 {
	at, _ := h.find(hash)
	return uint32(h.entries.at(at))
}

// swap sets the number of a hash, and returns the one before.
func (h *heads) swap(hash uint64, number uint32) (old uint32) {
	at, tag := h.find(hash)
	e := h.entries.at(at)
	if e == 0 {
		h.taken++
	}
	h.entries.set(at, tag|uint64(number))
	return uint32(e)
}

// each gives all numbers, with their places.
func (h *heads) each() iter.Seq2[int, uint32] {
	return func(yield func(int, uint32) bool) {
		for at := range h.entries.n {
			if number := uint32(h.entries.at(at)); number != 0 && !yield(at, number) {
				return
			}
		}
	}
}

// setFirst sets the number at a place.
func (h *heads) setFirst(at int, number uint32) {
	h.entries.set(at, h.entries.at(at)>>32<<32|uint64(number))
}
