package find

import (
	"cmp"
	"strings"
)

// Keys are compared by their form: ASCII letters are in lower case, and triplets are decoded,
// except that of the slash. All spellings of a key have the same form, and it is nearly always what
// people see and write.

// formByte returns the byte of the form for the character at an index, and the next index.
func formByte(text string, at int) (c byte, next int) {
	c, next = text[at], at+1
	if c == '%' && at+2 < len(text) {
		high, low := hexDigit(text[at+1]), hexDigit(text[at+2])
		if decoded := high<<4 | low; high|low < 16 && decoded != '/' {
			c, next = decoded, at+3
		}
	}
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c, next
}

// hexDigit returns the value of a hexadecimal digit, and 16 for anything else.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// appendForm appends the form of a text.
func appendForm(dst []byte, text string) []byte {
	for at := 0; at < len(text); {
		var c byte
		c, at = formByte(text, at)
		dst = append(dst, c)
	}
	return dst
}

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
		c, i = formByte(a, i)
		if d, j = formByte(b, j); c != d {
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
		if c, at = formByte(key, at); c != form[i] {
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
		if c, at = formByte(key, at); c != form[i] {
			return cmp.Compare(c, form[i])
		}
	}
	return cmp.Compare(len(key)-at, 0)
}
