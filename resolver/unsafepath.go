package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// unsafePath reports whether a remaining path is what R14 refuses (4.5). Percent-decoded until
// nothing changes, such a path holds a ".." segment, cut at "/" and "\", or a control character.
// The spare capacity of scratch is overwritten; with room for path nothing is allocated.
func unsafePath(path string, scratch []byte) bool {
	if strings.IndexByte(path, '%') < 0 {
		// A pathname holds neither dot segments, "\" nor control characters as such.
		return false
	}
	isSafe, _ := decodeFully(path, scratch)
	return !isSafe
}

// dots are how many dots a segment is, if it is nothing else.
type dots uint8

const (
	climbs  dots = 2
	noClimb dots = 3 // more dots, or something else
)

const noDigit = 0xFF

// decodeFully decodes a text until nothing changes. It reports whether R14 lets it pass. isSolid
// tells that text which is joined to it changes nothing that it decodes to, and makes no ".."
// segment with it.
//
// A triplet is decoded as soon as its last digit is there. Its octet may be a digit of another
// triplet, so those that have begun are kept behind the end of scratch: of each its first digit, or
// noDigit. No other octets need to be kept.
func decodeFully(text string, scratch []byte) (isSafe, isSolid bool) {
	begun := scratch[len(scratch):]
	last, least := dots(0), noClimb // of the last segment, and of any in front of it
text:
	for i := 0; i < len(text); i++ {
		c := text[i]
		if octet, ok := weburl.Triplet(text, i); ok {
			c = octet
			i += len("XX")
		}
		for n := len(begun); n > 0; n-- {
			digit, ok := weburl.HexDigit(c)
			if !ok {
				if c != '%' {
					begun, last = begun[:0], noClimb // as what has begun goes no further
				}
				break
			}
			if begun[n-1] == noDigit {
				begun[n-1] = digit
				continue text
			}
			c, begun = begun[n-1]<<4|digit, begun[:n-1]
		}
		switch {
		case c > '/' && c != '\\' && c != 0x7F:
			last = noClimb
		case c == '%':
			begun = append(begun, noDigit)
		case c == '.':
			last = min(last+1, noClimb)
		case c == '/' || c == '\\':
			if last == climbs {
				return false, false
			}
			least, last = min(least, last), 0
		case c < 0x20 || c == 0x7F:
			return false, false
		default:
			last = noClimb
		}
	}
	isSolid = len(begun) == 0 && least == noClimb && last == noClimb
	return len(begun) > 0 || last != climbs, isSolid
}
