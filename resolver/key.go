package resolver

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// maxKey is the length of the longest key, in bytes.
const maxKey = 1<<16 - 1

// checkKey says what is wrong with a key and what to write instead (R5). It returns nil for a good
// key.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty; \"/\" itself cannot be a shortlink")
	case key[0] == '/':
		return errors.New("the key begins with \"/\"; " + insteadOfSlash(key))
	case len(key) > maxKey:
		return errors.New("the key is longer than 65535 bytes, which no request line holds; " +
			"shorten it")
	case !utf8.ValidString(key):
		return errors.New("the key is not valid UTF-8; write its bytes percent-encoded")
	case hasControl(key):
		return errors.New("the key contains a control character; remove it, or write it " +
			"percent-encoded")
	case key[0] == ' ' || key[len(key)-1] == ' ':
		return errors.New("the key begins or ends with a space; remove it, or write %20")
	}
	if i := strings.IndexAny(key, `?#\{}`); i >= 0 {
		return errors.New(forbiddenInKey(key[i]))
	}
	if hasDotSegment(key) {
		return errors.New("the key has a segment \".\" or \"..\", perhaps percent-encoded, " +
			"which a URL's path never has; leave it out")
	}
	return nil
}

func forbiddenInKey(c byte) string {
	switch c {
	case '?':
		return "the key contains \"?\", but is compared with the path alone; for a question mark " +
			"in the path write %3F"
	case '#':
		return "the key contains \"#\", but is compared with the path alone; for a number sign in " +
			"the path write %23"
	case '\\':
		return `the key contains "\", which a URL's path never does; ` +
			`write "/", or %5C for a backslash`
	}
	return "the key contains \"" + string(c) + "\"; write %7B for { and %7D for }"
}

// hasControl reports whether a text holds a control character. These are those of ASCII, or U+0080
// to U+009F, which terminals obey, too, and which UTF-8 writes as C2 and the octet itself.
func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] == 0x7F || s[i] == 0xC2 && i+1 < len(s) && s[i+1] < 0xA0 {
			return true
		}
	}
	return false
}

// quote returns s in quotation marks, with what cannot be seen escaped. The end of a long one is
// left out.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// CanonicalKey returns the form that all spellings of a key share (R3), in lower case with fold. In
// a template, variables have numbers instead of names, and each has its own expression: a/{1}/{+2}.
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

// text returns b, which lies in the arena and is never written again, as a string.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
