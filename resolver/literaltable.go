package resolver

import "math/rand/v2"

// literalTable has the numbers of literal segments, by their canonical text. Other than a map it
// takes but a few instructions for a short text: those of a long path are all looked up.
type literalTable struct {
	long  map[string]uint32
	short []shortLiteral // an open-addressed hash table, of a power of two of places
	seed  uint64
}

// shortLiteral is the number of a text of at most shortText bytes, 0 for a free place.
type shortLiteral struct {
	key    uint64
	number uint32
}

// newLiteralTable returns a table that is half empty at least.
func newLiteralTable(numbers map[string]uint32) literalTable {
	size := 2
	for size < 2*len(numbers) {
		size *= 2
	}
	t := literalTable{
		long: map[string]uint32{}, short: make([]shortLiteral, size), seed: rand.Uint64() | 1,
	}
	for text, number := range numbers {
		if len(text) > shortText {
			t.long[text] = number
			continue
		}
		key := shortKey(text, 0, len(text))
		*t.place(key) = shortLiteral{key, number}
	}
	return t
}

// find returns the number of a text, 0 for none.
func (t *literalTable) find(text string) uint32 {
	if len(text) > shortText {
		return t.long[text]
	}
	return t.findShort(shortKey(text, 0, len(text)))
}

func (t *literalTable) findShort(key uint64) uint32 { return t.place(key).number }

// place returns the place of a short text, or the free one where it would be.
func (t *literalTable) place(key uint64) *shortLiteral {
	for at := mix(key, t.seed); ; at++ {
		place := &t.short[at&uint64(len(t.short)-1)]
		if place.key == key || place.number == 0 {
			return place
		}
	}
}

// shortText is how many bytes a short text has at most.
const shortText = 7

// shortKey returns a number that stands for a short part of a text and no other.
func shortKey(text string, start, end int) uint64 {
	n := end - start
	if len(text)-start < 8 {
		return loadTail(text[start:end]) | uint64(n)<<56
	}
	return load64(text[start:])&^(^uint64(0)<<(8*n)) | uint64(n)<<56
}

// hasPercent reports whether a short text has a "%".
func hasPercent(key uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	zeroes := key ^ ones*'%'
	return (zeroes-ones)&^zeroes&highs != 0
}
