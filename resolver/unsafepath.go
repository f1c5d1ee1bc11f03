package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// unsafePath reports whether a remaining path, percent-decoded until nothing changes, holds a ".."
// segment, cut at "/" and "\", or a control character (R14, 4.5). What is behind the end of scratch
// is written over; it spares an allocation where there is room for path.
func unsafePath(path string, scratch []byte) bool {
	if strings.IndexByte(path, '%') < 0 {
		// A pathname holds neither dot segments, "\" nor control characters as such.
		return false
	}
	d := decoder{begun: scratch[len(scratch):]}
	return !d.decode(path)
}

// decoder reads a text that is percent-decoded until nothing changes. A triplet is decoded as soon
// as its last digit is there; the octet may be the last digit of another one, so that triplets that
// have begun are kept, of each its first digit, or noDigit. Other octets need not be.
type decoder struct {
	begun []byte
	// last is what of the last segment counts, and first of the first one, if isCut into several.
	last, first dots
	isCut       bool
}

const noDigit = 0xFF

// dots are how many dots a segment is, if it is nothing else.
type dots uint8

const (
	climbs  dots = 2
	noClimb dots = 3 // more dots, or something else
)

// decode reads a text, and reports whether R14 lets it pass.
func (d *decoder) decode(text string) (isSafe bool) {
	begun, last := d.begun, d.last
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
				return false
			}
			if !d.isCut {
				d.first, d.isCut = last, true
			}
			last = 0
		case c < 0x20 || c == 0x7F:
			return false
		default:
			last = noClimb
		}
	}
	d.begun, d.last = begun, last
	return len(begun) > 0 || last != climbs
}

// isSolid reports whether text that is joined to the text that has been read changes nothing that
// decodes to, and makes no ".." segment with it.
func (d *decoder) isSolid() bool {
	return len(d.begun) == 0 && d.last == noClimb && (!d.isCut || d.first == noClimb)
}
