package near

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Texts are texts with numbers, such as the keys of a ruleset.
type Texts interface {
	// Numbers is an exclusive upper bound of the numbers.
	Numbers() int
	// KeyOf returns the text with a number, "" for none.
	KeyOf(number int) string
	// Uses returns how often the text with a number is used, and whether it may be suggested. It is
	// only called for texts that are near.
	Uses(number int) (n uint64, ok bool)
}

// Found is a text that was perhaps meant.
type Found struct {
	Number int

	nearness nearness
	text     string
	uses     uint64
}

// nearness says how near a text is to a path: the lowest is the nearest. It is the number of bytes
// in which the two differ, at most two (see distance), plus one of these for the part compared:
type nearness int

const (
	wholePath nearness = 0 // the whole path
	sameStart nearness = 3 // the last segment, where the first one is the same
	anywhere  nearness = 6 // the last segment, whatever the rest
	tooFar    nearness = 9
)

// longestText is the maximum length of texts and paths that are compared.
const longestText = 256

// shortestSegment is the minimum length of segments that are compared without the rest.
const shortestSegment = 3

// Search returns at most so many texts that were perhaps meant by a path, the nearest first.
// Equally near texts are in the order of their uses, the most used first, and then in alphabetical
// order.
func Search(texts Texts, path string, most int) []Found {
	var memory [longestText]byte
	s := search{texts: texts, most: most}
	if most <= 0 || !s.setPath(memory[:0], path) {
		return nil
	}
	for n := range texts.Numbers() {
		s.offer(n)
	}
	return s.best
}

// Word returns the word of a list that was perhaps meant by another word, "" for none.
func Word(written string, list []string) string {
	for _, found := range Search(words(list), written, 1) {
		return list[found.Number]
	}
	return ""
}

type words []string

func (w words) Numbers() int            { return len(w) }
func (w words) KeyOf(number int) string { return w[number] }
func (words) Uses(int) (uint64, bool)   { return 0, true }

// Compare orders two texts: the one that is nearer to a path comes first.
func Compare(path, a, b string) int {
	var memory, text [longestText]byte
	var s search
	if !s.setPath(memory[:0], path) {
		return strings.Compare(a, b)
	}
	nearnessOf := func(key string) nearness {
		if form, ok := appendText(text[:0], key); ok {
			return s.nearness(form)
		}
		return tooFar
	}
	return cmp.Or(cmp.Compare(nearnessOf(a), nearnessOf(b)), strings.Compare(a, b))
}

// search is a search for what was meant by a path.
type search struct {
	texts Texts
	path  []byte // its form
	last  []byte // its last segment
	most  int
	best  []Found // sorted
}

// setPath sets the path. ok is false if it is empty or too long to search for.
func (s *search) setPath(memory []byte, path string) (ok bool) {
	s.path, ok = appendText(memory, strings.TrimPrefix(path, "/"))
	s.last = lastSegment(s.path)
	return ok
}

// offer adds the text with a number to the best ones, if it is one of them.
func (s *search) offer(number int) {
	text := s.texts.KeyOf(number)
	var memory [longestText]byte
	form, ok := appendText(memory[:0], text)
	if !ok {
		return
	}
	found := Found{Number: number, nearness: s.nearness(form), text: text}
	if found.nearness == tooFar || s.isFull() && found.nearness > s.best[s.most-1].nearness ||
		s.isKnown(number) {
		return
	}
	if found.uses, ok = s.texts.Uses(number); !ok {
		return
	}
	at, _ := slices.BinarySearchFunc(s.best, found, Found.Compare)
	if at < s.most {
		s.best = slices.Insert(s.best, at, found)
		s.best = s.best[:min(len(s.best), s.most)]
	}
}

// isFull reports whether enough texts have been found.
func (s *search) isFull() bool { return len(s.best) == s.most }

// isKnown reports whether a number is among the best ones already.
func (s *search) isKnown(number int) bool {
	return slices.ContainsFunc(s.best, func(f Found) bool { return f.Number == number })
}

// Compare orders results for one path: what was more likely meant comes first.
func (f Found) Compare(other Found) int {
	return cmp.Or(cmp.Compare(f.nearness, other.nearness), cmp.Compare(other.uses, f.uses),
		strings.Compare(f.text, other.text), cmp.Compare(f.Number, other.Number))
}

// nearness returns how near the form of a text is to the path.
func (s *search) nearness(text []byte) nearness {
	if n, ok := allowedDistance(s.path, text); ok {
		return wholePath + nearness(n)
	}
	last := lastSegment(text)
	areWhole := len(s.last) == len(s.path) && len(last) == len(text)
	if areWhole || min(len(s.last), len(last)) < shortestSegment {
		return tooFar
	}
	n, ok := allowedDistance(s.last, last)
	switch {
	case !ok:
		return tooFar
	case haveSameStart(s.path, text):
		return sameStart + nearness(n)
	}
	return anywhere + nearness(n)
}

// haveSameStart reports whether two texts have several segments each, of which the first is the
// same.
func haveSameStart(a, b []byte) bool {
	first, _, hasMore := bytes.Cut(a, []byte("/"))
	other, _, otherHasMore := bytes.Cut(b, []byte("/"))
	return hasMore && otherHasMore && bytes.Equal(first, other)
}

// appendText appends the form of a text to dst, which is empty, without a slash at its end. ok is
// false if the text is too long or empty.
func appendText(dst []byte, text string) (form []byte, ok bool) {
	if len(text) > 3*longestText {
		return nil, false
	}
	for at := 0; at < len(text); {
		if len(dst) == longestText {
			return nil, false
		}
		var c byte
		c, at = FormByte(text, at)
		dst = append(dst, c)
	}
	form = bytes.TrimSuffix(dst, []byte("/"))
	return form, len(form) > 0
}

// lastSegment returns the last segment of a text.
func lastSegment(text []byte) []byte { return text[bytes.LastIndexByte(text, '/')+1:] }
