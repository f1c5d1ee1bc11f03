package uritemplate

// class is a set of properties of a byte.
type class uint8

const (
	unreserved class = 1 << iota
	reserved
	hexDigit
	nameStart // of a variable: ALPHA, DIGIT, "_"
	// literal: may stand in a literal as it is.
	literal
)

var classes = makeClasses()

func makeClasses() (t [256]class) {
	for c := range 256 {
		b := byte(c)
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
			t[b] = unreserved | nameStart
		}
	}
	t['_'] |= nameStart
	for _, c := range []byte("-._~") {
		t[c] |= unreserved
	}
	for _, c := range []byte(":/?#[]@!$&'()*+,;=") {
		t[c] |= reserved
	}
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] |= hexDigit
	}
	for c := range 128 {
		if t[c]&(unreserved|reserved) != 0 {
			t[c] |= literal // RFC 6570 2.1 excludes all others; "'" is allowed by an erratum
		}
	}
	return t
}

func hasClass(c byte, k class) bool { return classes[c]&k != 0 }

// isTriplet reports whether there is a percent-encoded octet at i.
func isTriplet[T string | []byte](s T, i int) bool {
	return i+2 < len(s) && s[i] == '%' && hasClass(s[i+1], hexDigit) && hasClass(s[i+2], hexDigit)
}

// octet decodes the triplet at i.
func octet[T string | []byte](s T, i int) byte { return digit(s[i+1])<<4 | digit(s[i+2]) }

func digit(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

const upperHex = "0123456789ABCDEF"

func appendTriplet(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}
