package find

import (
	"cmp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/near"
)

// Keys are compared by their forms: see [near.FormByte].

// appendFolded appends a text with the ASCII letters in lower case.
func appendFolded(dst []byte, text string) []byte {
	start := len(dst)
	dst = append(dst, text...)
	for i, c := range dst[start:] {
		if 'A' <= c && c <= 'Z' {
			dst[start+i] = c + ('a' - 'A')
		}
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
