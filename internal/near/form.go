package near

// Texts are compared in a form: ASCII letters are in lower case, and everything percent-encoded is
// decoded, except for the slash. So all spellings of a key have one form, and it is nearly always
// what people see and write.

// FormByte returns the byte of the form at an index of a text, and the next index.
func FormByte(text string, at int) (c byte, next int) {
	c, next = text[at], at+1
	if octet, ok := escapedOctet(text, at); ok && octet != '/' {
		c, next = octet, at+len("%XX")
	}
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c, next
}

// AppendForm appends the form of a text.
func AppendForm(dst []byte, text string) []byte {
	for at := 0; at < len(text); {
		var c byte
		c, at = FormByte(text, at)
		dst = append(dst, c)
	}
	return dst
}

// escapedOctet returns the octet that is percent-encoded at an index of a text, if there is one.
func escapedOctet(text string, at int) (octet byte, ok bool) {
	if text[at] != '%' || at+2 >= len(text) {
		return 0, false
	}
	high, low := hexDigit(text[at+1]), hexDigit(text[at+2])
	return high<<4 | low, high|low < 16
}

// hexDigit returns the value of a hexadecimal digit, or 16 for any other byte.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
