package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// appendCanonical appends the canonical form of a key or a candidate (R3): percent-encoded with the
// URL Standard's path set; then, unless a "%" in it is not followed by two hex digits, unreserved
// octets decoded and the other triplets in upper case (RFC 3986 6.2.2).
func appendCanonical(dst []byte, key string) []byte {
	start := len(dst)
	dst = weburl.AppendEncoded(dst, key, weburl.PathSet)
	encoded := dst[start:]
	if malformedTriplet(encoded) >= 0 {
		return dst
	}
	return dst[:start+len(normalizeTriplets(encoded))]
}

// malformedTriplet returns the index of the first "%" in path that is not followed by two hex
// digits, or -1.
func malformedTriplet[T string | []byte](path T) int {
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			continue
		}
		if _, ok := weburl.Triplet(path, i); !ok {
			return i
		}
		i += 2
	}
	return -1
}

// normalizeTriplets decodes the unreserved octets of path and writes the other triplets in upper
// case, in place, and returns what is left of path. Every "%" of path has its two digits.
func normalizeTriplets(path []byte) []byte {
	normal := path[:0]
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			normal = append(normal, path[i])
			continue
		}
		octet, _ := weburl.Triplet(path, i)
		if isUnreserved(octet) {
			normal = append(normal, octet)
		} else {
			normal = weburl.AppendTriplet(normal, octet)
		}
		i += 2
	}
	return normal
}

// CanonicalKey returns the form of a key in which equal keys are equal (R3), with fold in lower case. A template's
// variables have numbers for names in it, and each expression has one: a/{1}/{+2}.
func CanonicalKey(key string, fold bool) string {
	o := options{foldCase: fold}
	return o.canonicalKey(key)
}

func (o *options) canonicalKey(key string) string {
	if IsTemplate(key) {
		if t, problem := o.parseTemplateKey(key); problem == "" {
			return t.key
		}
	}
	return string(o.appendKey(nil, key))
}

// appendKey appends the form of a key that the table holds: canonical, and with "fold case" in lower case.
func (o *options) appendKey(dst []byte, key string) []byte {
	start := len(dst)
	dst = appendCanonical(dst, key)
	if o.foldCase {
		foldCase(dst[start:])
	}
	return dst
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

// hasDotSegment reports whether path, cut at "/", has a dot segment.
func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if weburl.IsDotSegment(segment) {
			return true
		}
	}
	return false
}
