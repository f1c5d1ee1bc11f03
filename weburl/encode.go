package weburl

import "unicode/utf8"

// EncodeSet names one of the standard's percent-encode sets. Its values are the package's
// constants.
type EncodeSet uint8

// The percent-encode sets of the components of an http or https URL.
const (
	// PathSet is the path percent-encode set.
	PathSet = EncodeSet(encodeInPath)
	// QuerySet is the special-query percent-encode set: an http or https URL's query also encodes
	// the apostrophe.
	QuerySet = EncodeSet(encodeInQuery)
	// FragmentSet is the fragment percent-encode set.
	FragmentSet = EncodeSet(encodeInFragment)
	// UserinfoSet is the userinfo percent-encode set.
	UserinfoSet = EncodeSet(encodeInUserinfo)

	formSet = EncodeSet(encodeInForm)
)

// has reports whether the set encodes the byte b of a UTF-8 sequence.
func (set EncodeSet) has(b byte) bool { return classes[b].has(class(set)) }

// AppendEncoded appends s to dst, with each byte in set as %XX in upper case. The standard calls
// this "UTF-8 percent-encode". A % is never encoded, so the triplets of s stay as they are. Nothing
// is removed, neither TAB nor line ends.
func AppendEncoded(dst []byte, s string, set EncodeSet) []byte {
	start := 0 // of the run that stays as it is
	for i := 0; i < len(s); {
		b := s[i]
		if !set.has(b) {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		size := 1
		if b < utf8.RuneSelf {
			dst = AppendTriplet(dst, b)
		} else {
			dst, size = appendEncodedRune(dst, s[i:])
		}
		i += size
		start = i
	}
	return append(dst, s[start:]...)
}

// appendEncodedRune appends the first character of s, which is beyond ASCII, and returns its length
// in s.
func appendEncodedRune(dst []byte, s string) ([]byte, int) {
	size, ok := sequence(s)
	if !ok {
		return append(dst, encodedReplacement...), size
	}
	for i := range size {
		dst = AppendTriplet(dst, s[i])
	}
	return dst, size
}

const (
	replacement        = "\uFFFD"
	encodedReplacement = "%EF%BF%BD"
	upperHex           = "0123456789ABCDEF"
)

// AppendTriplet appends octet as %XX in upper case.
func AppendTriplet(dst []byte, octet byte) []byte {
	return append(dst, '%', upperHex[octet>>4], upperHex[octet&15])
}

// Triplet decodes the %XX at s[i], with digits of either case. ok is false if there is none, or s
// ends before it does. i is not negative.
func Triplet[T string | []byte](s T, i int) (octet byte, ok bool) {
	if len(s)-i < 3 || s[i] != '%' {
		return 0, false
	}
	high, ok1 := HexDigit(s[i+1])
	low, ok2 := HexDigit(s[i+2])
	return high<<4 | low, ok1 && ok2
}

// HexDigit returns the value of a hex digit of either case.
func HexDigit(b byte) (digit byte, ok bool) {
	digit = hexDigits[b]
	return digit, digit < 16
}

// hexDigits has the value of each hex digit, and 0xFF for other bytes. Like classes it is written
// once, here. It allows Triplet to be inlined, which reads paths with very many escapes.
var hexDigits = readHexDigits()

func readHexDigits() (table [256]byte) {
	for b := range table {
		table[b] = 0xFF
	}
	for digit := range len(upperHex) {
		table[upperHex[digit]] = byte(digit)
		table[upperHex[digit]|0x20] = byte(digit)
	}
	return table
}
