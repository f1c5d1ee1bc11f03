package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// appendCanonical appends the canonical form of a key or a candidate (R3): percent-
// encoded with the URL Standard's path set; then, unless a "%" in it is not followed by
// two hex digits, unreserved octets decoded and the other triplets in upper case
// (RFC 3986 6.2.2).
func appendCanonical(dst []byte, key string) []byte {
	start := len(dst)
	dst = weburl.AppendEncoded(dst, key, weburl.PathSet)
	encoded := dst[start:]
	if malformedTriplet(encoded) >= 0 {
		return dst
	}
	return dst[:start+normalizeTriplets(encoded)]
}

// malformedTriplet returns the index of the first "%" in path that is not followed
// by two hex digits, or -1.
func malformedTriplet[T string | []byte](path T) int {
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			continue
		}
		if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
			return i
		}
		i += 2
	}
	return -1
}

// normalizeTriplets decodes the unreserved octets of path, writes the other triplets
// in upper case, both in place, and returns the new length. Every "%" of path has its two digits.
func normalizeTriplets(path []byte) int {
	n := 0
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			path[n] = path[i]
			n++
			continue
		}
		octet := unhex(path[i+1])<<4 | unhex(path[i+2])
		if isUnreserved(octet) {
			path[n] = octet
			n++
		} else {
			path[n], path[n+1], path[n+2] = '%', upper(path[i+1]), upper(path[i+2])
			n += 3
		}
		i += 2
	}
	return n
}

// foldCase writes the ASCII letters of path in lower case, in place.
func foldCase(path []byte) {
	for i, c := range path {
		if 'A' <= c && c <= 'Z' {
			path[i] = c + ('a' - 'A')
		}
	}
}

func isUnreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unhex returns the value of a hex digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// isDotSegment reports whether the URL Standard takes segment for "." or "..".
func isDotSegment(segment string) bool {
	switch strings.ToLower(segment) {
	case ".", "%2e", "..", ".%2e", "%2e.", "%2e%2e":
		return true
	}
	return false
}

// hasDotSegment reports whether path, cut at "/", has a dot segment.
func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) <= len("%2e%2e") && isDotSegment(segment) {
			return true
		}
	}
	return false
}
