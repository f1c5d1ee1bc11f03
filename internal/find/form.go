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

// folder makes the form of a text for searches: that of keys, without accents, and without case
// beyond ASCII. It is not safe for concurrent use.
type folder struct{ letters transform.Transformer }

func newFolder() folder {
	marks := runes.Remove(runes.In(unicode.Mn))
	return folder{transform.Chain(norm.NFKD, marks, cases.Fold())}
}

// append appends the form of a text. ASCII needs no tables.
func (f folder) append(dst []byte, text string) []byte {
	start := len(dst)
	dst = near.AppendForm(dst, text)
	if slices.ContainsFunc(dst[start:], func(c byte) bool { return c >= utf8.RuneSelf }) {
		dst, _, _ = transform.Append(f.letters, dst[:start], slices.Clone(dst[start:]))
	}
	return dst
}

// compareKeys orders canonical keys by their forms, and keys with equal forms by their bytes.
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

// compareStart compares the start of a key's form with a form. The result is 0 if the key begins
// with it.
func compareStart(key, form string) int {
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
	return 0
}
