package near

// HasReserved reports whether a path has a reserved character, or an escape of any character.
func HasReserved(path string) bool {
	for i := range len(path) {
		if path[i] == '%' || isReserved(path[i]) {
			return true
		}
	}
	return false
}

// WithoutEscapes returns a canonical path with its reserved characters decoded. Paths become equal
// if they differ only in such escapes, such as ( and %28. It reports whether there are any such
// characters.
func WithoutEscapes(path string) (decoded string, hasReserved bool) {
	text := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if octet, ok := escapedOctet(path, i); ok && isReserved(octet) {
			c = octet
			i += len("%XX") - 1
		}
		hasReserved = hasReserved || isReserved(c)
		text = append(text, c)
	}
	return string(text), hasReserved
}

// isReserved reports whether paths contain a character and its escape as two different things. A
// "/" separates segments; its escape is meant not to.
func isReserved(c byte) bool {
	const (
		low uint64 = 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' | 1<<'*' | 1<<'+' |
			1<<',' | 1<<':' | 1<<';' | 1<<'='
		high uint64 = 1<<('@'-64) | 1<<('['-64) | 1<<(']'-64) | 1<<('|'-64)
	)
	if c < 64 {
		return low>>c&1 != 0
	}
	return high>>(c-64)&1 != 0 // which is 0 for what is not ASCII
}
