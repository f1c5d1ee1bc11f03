package weburl

import (
	"strings"
	"unicode/utf8"
)

// NextPiece cuts the first piece that is not empty from a query without its "?", and the
// piece at its first "=". Name and value are as written, and alias query; ok is false when
// no piece is left.
func NextPiece(query string) (name, value, rest string, ok bool) {
	query = strings.TrimLeft(query, "&")
	if query == "" {
		return "", "", "", false
	}
	piece, rest, _ := strings.Cut(query, "&")
	name, value, _ = strings.Cut(piece, "=")
	return name, value, rest, true
}

// AppendForm decodes half, the name or the value of a piece as it is written, and appends
// it to dst as [Params.String] spells it, without building the decoded text between: "+" is
// a space, %XX is decoded, ill-formed UTF-8 becomes U+FFFD. Two halves mean the same text
// exactly if their outputs are equal.
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

// appendFormRune decodes and serialises the first character of half and gives its length
// there. Bytes written raw and bytes written as %XX never join to a character, since what
// is raw was one before anything is decoded.
func appendFormRune(dst []byte, half string) ([]byte, int) {
	b, ok := triplet(half, 0)
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
		return appendTriplet(dst, b)
	}
	return append(dst, b)
}

// decodeTriplets decodes the %XX that half begins with, no more than one character needs.
func decodeTriplets(half string) (decoded [utf8.UTFMax]byte, n int) {
	for n < len(decoded) {
		b, ok := triplet(half, 3*n)
		if !ok {
			break
		}
		decoded[n] = b
		n++
	}
	return decoded, n
}

// decodedForm gives the text that half means.
func decodedForm(half string) string {
	return percentDecoded(strings.ReplaceAll(wellFormed(half), "+", " "))
}
