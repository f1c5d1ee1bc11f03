package near

import (
	"math/bits"
	"math/rand/v2"
	"strings"
)

// Slips finds the paths that are one letter away from a text. If two texts differ in one letter, or
// in the order of two, they become equal when one or both of them lose a letter. So each path is
// stored by the hashes of its remnants, which lack one letter each, and each text is looked up in
// the same way. The time is proportional to the length of all paths and texts.
type Slips struct {
	paths    []string
	remnants []remnant
	last     map[uint64]int32 // of the remnants with a hash, by number from 1 on
	filter   []uint64         // has a bit for each hash that there may be
	base     uint64
	prefixes []uint64 // scratch memory
}

// remnant is a path without one letter, or the whole path.
type remnant struct {
	path     int32
	previous int32 // with the same hash, 0 for none
}

// mostRemnants limits the memory. Some ten thousand paths have this many.
const mostRemnants = 1 << 18

// NewSlips returns an empty set.
func NewSlips() *Slips { return &Slips{base: rand.Uint64() | 1, last: map[uint64]int32{}} }

// IsFull reports whether the limit of paths is reached.
func (s *Slips) IsFull() bool { return len(s.remnants) > mostRemnants }

// Add adds a path, and returns its number: 0, 1 and so on.
func (s *Slips) Add(path string) (number int) {
	if s.filter == nil {
		s.filter = make([]uint64, 1<<16)
	}
	number = len(s.paths)
	s.paths = append(s.paths, path)
	s.eachRemnant(path, func(hash uint64) {
		s.remnants = append(s.remnants, remnant{int32(number), s.last[hash]})
		s.last[hash] = int32(len(s.remnants))
		word, bit := filterBit(hash)
		s.filter[word] |= bit
	})
	return number
}

func filterBit(hash uint64) (word int, bit uint64) {
	return int(hash >> 48), 1 << (hash >> 42 & 63)
}

// Find calls found with the numbers of the paths that are one letter away from a text. It may call
// it several times with one number.
func (s *Slips) Find(text string, found func(number int)) {
	if len(s.paths) == 0 {
		return
	}
	s.eachRemnant(text, func(hash uint64) {
		if word, bit := filterBit(hash); s.filter[word]&bit == 0 {
			return
		}
		for at := s.last[hash]; at != 0; at = s.remnants[at-1].previous {
			if n := int(s.remnants[at-1].path); oneLetterAway(text, s.paths[n]) {
				found(n)
			}
		}
	})
}

// eachRemnant calls do with the hashes of a text and of the text without each of its letters. A
// hash is made from the value of a polynomial, so each one takes only a few steps.
func (s *Slips) eachRemnant(text string, do func(hash uint64)) {
	s.prefixes = append(s.prefixes[:0], 0)
	for i := range len(text) {
		s.prefixes = append(s.prefixes, s.prefixes[i]*s.base+uint64(text[i])+1)
	}
	do(s.hash(s.prefixes[len(text)]))
	suffix, power := uint64(0), uint64(1)
	for i := len(text) - 1; i >= 0; i-- {
		if isLetter(text[i]) {
			do(s.hash(s.prefixes[i]*power + suffix))
		}
		suffix += (uint64(text[i]) + 1) * power
		power *= s.base
	}
}

// hash spreads the value of a polynomial over all bits.
func (s *Slips) hash(value uint64) uint64 {
	high, low := bits.Mul64(value, s.base)
	return high ^ low
}

// shortestWord is the minimum length of a word in which another letter, or one more or less, counts
// as a slip.
const shortestWord = 4

// oneLetterAway reports whether two texts differ in one letter, or in the order of two. The word
// with the difference must not be short. Other characters, such as digits, distinguish pages on
// purpose.
func oneLetterAway(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) > len(b)+1 {
		return false
	}
	start := 0
	for start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	longer, other := a[start:endA], b[start:endB]
	swapped := len(longer) == 2 && len(other) == 2 && longer[0] == other[1] && longer[1] == other[0]
	if len(longer) != 1 && !swapped || !isWord(longer) || !isWord(other) {
		return false
	}
	from, to := start, endA
	for from > 0 && isLetter(a[from-1]) {
		from--
	}
	for to < len(a) && isLetter(a[to]) {
		to++
	}
	return to-from >= shortestWord
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// Alike reports whether people mistake two texts for each other: they differ in one letter, as in
// [Slips], in case, or in hyphens and underscores.
func Alike(a, b string) bool {
	bare := strings.NewReplacer("-", "", "_", "")
	a, b = bare.Replace(string(AppendForm(nil, a))), bare.Replace(string(AppendForm(nil, b)))
	return a == b || oneLetterAway(a, b)
}
