package weburl

// class is a set of facts about a byte that the scanning loops need. They share one table, so each
// fact costs one load and one test per byte.
type class uint8

// The first five are the encode sets: they hold for every byte that the set encodes.
const (
	encodeInPath class = 1 << iota
	encodeInQuery
	encodeInFragment
	encodeInUserinfo
	encodeInForm     // all bytes that application/x-www-form-urlencoded does not keep
	structuralInPath // where a scan of a path must look closer: / \ ? #
	refusedInDomain  // the standard's forbidden domain code points
	ordinaryInHost   // letters, digits, '-', '.', '_': a domain of these needs no parser
)

// classes is written once, here; it is a variable only because Go has no constant arrays.
var classes = classify()

func classify() (table [256]class) {
	mark := func(c class, members string) {
		for i := range len(members) {
			table[members[i]] |= c
		}
	}
	for b := range table {
		if b <= 0x20 || b >= 0x7F {
			table[b] |= encodeInPath | encodeInQuery | encodeInFragment | encodeInUserinfo
		}
		if b <= 0x20 || b == 0x7F {
			table[b] |= refusedInDomain
		}
		if isLetter(byte(b)) || isDigit(byte(b)) {
			table[b] |= ordinaryInHost
		} else {
			table[b] |= encodeInForm
		}
	}
	mark(encodeInFragment, "\"<>`")
	mark(encodeInQuery, "\"#<>'")
	mark(encodeInPath, "\"#<>?^`{}")
	mark(encodeInUserinfo, "\"#<>?^`{}/:;=@[\\]|")
	mark(structuralInPath, `/\?#`)
	mark(refusedInDomain, `#%/:<>?@[\]^|`)
	mark(ordinaryInHost, "-._")
	for _, b := range []byte("*-._") {
		table[b] &^= encodeInForm
	}
	return table
}

func (c class) has(fact class) bool { return c&fact != 0 }

func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
