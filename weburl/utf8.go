package weburl

import (
	"strings"
	"unicode/utf8"
)

// sequence returns the length of the first UTF-8 sequence in s, which is not empty. If the sequence
// is ill-formed, ok is false, and the length is that of its maximal subpart: the bytes that the
// standard's decoder replaces by one U+FFFD.
func sequence(s string) (size int, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size != 1 {
		return size, true
	}
	return maximalSubpart(s), false
}

// maximalSubpart returns the length of the longest prefix of s that can begin a well-formed
// sequence, or 1 (Unicode 3.9, table 3-7). The first sequence of s is not well-formed.
func maximalSubpart(s string) int {
	need, low, high := 0, byte(0x80), byte(0xBF)
	switch lead := s[0]; {
	case 0xC2 <= lead && lead <= 0xDF:
		need = 2
	case 0xE0 <= lead && lead <= 0xEF:
		need = 3
	case 0xF0 <= lead && lead <= 0xF4:
		need = 4
	}
	switch s[0] {
	case 0xE0:
		low = 0xA0 // below: overlong
	case 0xED:
		high = 0x9F // above: surrogates
	case 0xF0:
		low = 0x90 // below: overlong
	case 0xF4:
		high = 0x8F // above: beyond U+10FFFF
	}
	size := 1
	for size < need && size < len(s) && low <= s[size] && s[size] <= high {
		size++
		low, high = 0x80, 0xBF
	}
	return size
}

// wellFormed returns s with each maximal ill-formed subpart replaced by U+FFFD.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		size, ok := sequence(s)
		if ok {
			b.WriteString(s[:size])
		} else {
			b.WriteString(replacement)
		}
		s = s[size:]
	}
	return b.String()
}
