package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// CanonicalKey returns the form of a key in which equal keys are equal (R3), with fold in lower
// case. A template's variables have numbers for names in it, and each expression has one:
// a/{1}/{+2}.
func CanonicalKey(key string, fold bool) string {
	o := options{foldCase: fold}
	return o.canonicalKey(key)
}

func (o *options) canonicalKey(key string) string {
	if IsTemplate(key) {
		if k, err := o.parseTemplateKey(key); err == nil {
			return k.text
		}
	}
	return string(o.appendKey(nil, key))
}

// appendKey appends the form of a key that the table holds: canonical, and with "fold case" in
// lower case.
func (o *options) appendKey(dst []byte, key string) []byte {
	start := len(dst)
	dst = weburl.AppendCanonicalPath(dst, key)
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

// hasDotSegment reports whether path, cut at "/", has a dot segment.
func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if weburl.IsDotSegment(segment) {
			return true
		}
	}
	return false
}
