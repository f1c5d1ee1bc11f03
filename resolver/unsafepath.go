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
	decoded := appendFullyDecoded(scratch[len(scratch):], path)
	segment := 0
	for i, c := range decoded {
		switch {
		case c < 0x20 || c == 0x7F:
			return true
		case c == '/' || c == '\\':
			if string(decoded[segment:i]) == ".." {
				return true
			}
			segment = i + 1
		}
	}
	return string(decoded[segment:]) == ".."
}

// appendFullyDecoded appends path, percent-decoded until nothing changes. Each triplet is replaced
// as soon as its last digit is there; the octet that replaces it may be the last digit of another.
func appendFullyDecoded(dst []byte, path string) []byte {
	start := len(dst)
	for i := range len(path) {
		dst = append(dst, path[i])
		for {
			triplet := max(start, len(dst)-len("%XX"))
			octet, ok := weburl.Triplet(dst, triplet)
			if !ok {
				break
			}
			dst = append(dst[:triplet], octet)
		}
	}
	return dst
}
