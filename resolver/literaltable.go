package resolver

import "math/rand/v2"

// literalTable is an open-addressed hash table of the numbers of literal segments, by their canonical
// text. It takes a third of the time of a map, for each segment of a long path.
type literalTable struct {
	places []literalPlace // a power of two of them
	seed   uint64
}

type literalPlace struct {
	text   string
	number uint32 // 0 where the place is free
}

// newLiteralTable returns a table that is half empty at least.
func newLiteralTable(numbers map[string]uint32) literalTable {
	size := 2
	for size < 2*len(numbers) {
		size *= 2
	}
	t := literalTable{places: make([]literalPlace, size), seed: rand.Uint64()}
	for text, number := range numbers {
		*t.place(text) = literalPlace{text, number}
	}
	return t
}

// place returns the place of a text, or the free one where it would be.
func (t *literalTable) place(text string) *literalPlace {
	hash, _ := hashSegment(t.seed, text, 0)
	for at := hash; ; at++ {
		place := &t.places[at&uint64(len(t.places)-1)]
		if place.number == 0 || place.text == text {
			return place
		}
	}
}

// find returns the number of a text, 0 for none.
func (t *literalTable) find(text string) uint32 { return t.place(text).number }
