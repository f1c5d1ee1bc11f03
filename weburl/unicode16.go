package weburl

// remap maps the characters of a domain that Unicode 15.1 and 16 map differently from Unicode 15.
// Up to Go 1.26, golang.org/x/net/idna has the tables of Unicode 15, which refuse these characters
// or map them to something else. The one that people type is U+1E9E: by the older tables
// GROẞ.example and groß.example are different hosts. Newer tables agree with every line.
func remap(r rune) (mapped string, ok bool) {
	switch {
	case r < 0x04C0: // nearly all that anybody writes
		return "", false
	case r == 0x1E9E:
		return "ß", true
	case 0x10A0 <= r && r <= 0x10C5: // Georgian Asomtavruli
		return string(r - 0x10A0 + 0x2D00), true
	case isNewlyIgnored(r):
		return "", true
	}
	lowered, ok := newlyMapped(r)
	return string(lowered), ok
}

func isNewlyIgnored(r rune) bool {
	switch {
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, // Hangul fillers
		r == 0x17B4, r == 0x17B5, // Khmer inherent vowels
		r == 0x180E,                  // Mongolian vowel separator
		0x2061 <= r && r <= 0x2063,   // invisible operators
		0x206A <= r && r <= 0x206F,   // deprecated format characters
		0x1D173 <= r && r <= 0x1D17A: // musical beams and slurs
		return true
	}
	return false
}

// newlyMapped maps one character to one.
func newlyMapped(r rune) (mapped rune, ok bool) {
	switch r {
	case 0x04C0: // Cyrillic palochka
		return 0x04CF, true
	case 0x2132: // turned F
		return 0x214E, true
	case 0x2183: // reversed Roman hundred
		return 0x2184, true

	// CJK compatibility ideographs
	case 0x2F868:
		return 0x36FC, true
	case 0x2F874:
		return 0x5F53, true
	case 0x2F91F:
		return 0x243AB, true
	case 0x2F95F:
		return 0x7AEE, true
	case 0x2F9BF:
		return 0x45D7, true
	}
	return 0, false
}
