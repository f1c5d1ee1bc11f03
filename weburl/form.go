package weburl

import (
	"strings"
	"unicode/utf8"
)

// NextPiece cuts the first piece that is not empty from a query, and the piece at its first "=".
// The query does not begin with "?". Name and value are as written, and alias query. ok is false if
// no piece is left.
func NextPiece(query string) (name, value, rest string, ok bool) {
	piece := nextPiece(query, 0)
	name, value, _ = strings.Cut(piece.textIn(query), "=")
	return name, value, strings.TrimPrefix(query[piece.end:], "&"), !piece.isEmpty()
}

// nextPiece returns the place of the next piece of query that is not empty, or an empty span. from
// is not inside a piece.
func nextPiece(query string, from uint32) span {
	start := int(from)
	for start < len(query) && query[start] == '&' {
		start++
	}
	end := len(query)
	if start < end {
		if n := strings.IndexByte(query[start:], '&'); n >= 0 {
			end = start + n
		}
	}
	return span{uint32(start), uint32(end)}
}

// span is the place of a piece, a name or a value in a text.
type span struct{ start, end uint32 }

func (s span) isEmpty() bool              { return s.start == s.end }
func (s span) bytesOf(text []byte) []byte { return text[s.start:s.end] }
func (s span) textIn(query string) string { return query[s.start:s.end] }

// AppendForm appends half, the name or the value of a piece, to dst as [Params.String] spells it.
// It decodes half without building the decoded text: "+" is a space, %XX is decoded, and ill-formed
// UTF-8 becomes U+FFFD. Two halves mean the same text if and only if their outputs are equal.
func AppendForm(dst []byte, half string) []byte {
	start := 0 // of the run that stays as it is
	for i := 0; i < len(half); {
		if b := half[i]; b == '+' || !formSet.has(b) {
			i++
			continue
		}
		dst = append(dst, half[start:i]...)
		size := 0
		dst, size = appendFormRune(dst, half[i:])
		i += size
		start = i
	}
	return append(dst, half[start:]...)
}

// appendFormRune decodes and serialises the first character of half and returns its length in half.
// A raw byte and a decoded one never form a character together, because raw text is already made of
// characters before anything is decoded.
func appendFormRune(dst []byte, half string) ([]byte, int) {
	b, ok := Triplet(half, 0)
	switch {
	case ok && b < utf8.RuneSelf:
		return appendFormASCII(dst, b), 3
	case ok:
		decoded, n := decodeTriplets(half)
		dst, size := appendEncodedRune(dst, string(decoded[:n]))
		return dst, 3 * size
	case half[0] < utf8.RuneSelf:
		return appendFormASCII(dst, half[0]), 1
	}
	return appendEncodedRune(dst, half)
}

// appendFormASCII serialises one decoded character.
func appendFormASCII(dst []byte, b byte) []byte {
	switch {
	case b == ' ':
		return append(dst, '+')
	case formSet.has(b):
		return AppendTriplet(dst, b)
	}
	return append(dst, b)
}

// decodeTriplets decodes the %XX at the beginning of half, at most as many as a character can have.
func decodeTriplets(half string) (decoded [utf8.UTFMax]byte, n int) {
	for n < len(decoded) {
		b, ok := Triplet(half, 3*n)
		if !ok {
			break
		}
		decoded[n] = b
		n++
	}
	return decoded, n
}

// decodedForm returns the text that half means.
func decodedForm(half string) string {
	return percentDecoded(strings.ReplaceAll(wellFormed(half), "+", " "))
}
