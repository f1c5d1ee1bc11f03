package find

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/caddy-shortlink/shortlink/internal/near"
)

// Keys are compared by their forms: see [near.FormByte].

// folder makes the form of a text in which it is searched: that of keys, with neither accents nor
// case beyond ASCII. It is for one goroutine.
type folder struct{ letters transform.Transformer }

func newFolder() folder {
	marks := runes.Remove(runes.In(unicode.Mn))
	return folder{transform.Chain(norm.NFKD, marks, cases.Fold())}
}

// append appends the form of a text. Nearly all is ASCII, which needs no tables.
func (f folder) append(dst []byte, text string) []byte {
	start := len(dst)
	dst = near.AppendForm(dst, text)
	if slices.ContainsFunc(dst[start:], func(c byte) bool { return c >= utf8.RuneSelf }) {
		dst, _, _ = transform.Append(f.letters, dst[:start], slices.Clone(dst[start:]))
	}
	return dst
}

// compareKeys compares canonical keys by their forms, and keys with equal forms by their bytes.
func compareKeys(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		var c, d byte
		c, i = near.FormByte(a, i)
		if d, j = near.FormByte(b, j); c != d {
			return cmp.Compare(c, d)
		}
	}
	return cmp.Or(cmp.Compare(len(a)-i, 0)-cmp.Compare(len(b)-j, 0), strings.Compare(a, b))
}

// hasPrefix reports whether the form of a key begins with a form.
func hasPrefix(key, form string) bool {
	at := 0
	for i := range len(form) {
		if at == len(key) {
			return false
		}
		var c byte
		if c, at = near.FormByte(key, at); c != form[i] {
			return false
		}
	}
	return true
}

// compareForm compares the form of a key with a form.
func compareForm(key, form string) int {
	at := 0
	for i := range len(form) {
		if at == len(key) {
			return -1
		}
		var c byte
		if c, at = near.FormByte(key, at); c != form[i] {
			return cmp.Compare(c, form[i])
		}
	}
	return cmp.Compare(len(key)-at, 0)
}
