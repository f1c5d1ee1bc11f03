package weburl

// What is known here about the equivalence of URLs: two are the same page if their canonical forms
// are equal. The URL Standard's parser has settled hosts, default ports and dot segments; what is
// left is the spelling of octets in the path, which the standard keeps (RFC 3986 6.2.2, RFC 9110
// 4.2.3). Queries and fragments are compared as they are written: what is in them means what the
// application says.

// AppendCanonicalPath appends the canonical form of a path, of a part of one, or of a key (R3). It
// is percent-encoded with the URL Standard's path set; then, unless a "%" in it is not followed by
// two hex digits, unreserved octets decoded and the other triplets in upper case. It never changes
// what the path stands for, and a canonical path is its own canonical form.
func AppendCanonicalPath(dst []byte, path string) []byte {
	start := len(dst)
	dst = AppendEncoded(dst, path, PathSet)
	encoded := dst[start:]
	if MalformedTriplet(encoded) >= 0 {
		return dst
	}
	return dst[:start+len(NormalizeTriplets(encoded))]
}

// MalformedTriplet returns the index of the first "%" in path without two hex digits, or -1.
func MalformedTriplet[T string | []byte](path T) int {
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			continue
		}
		if _, ok := Triplet(path, i); !ok {
			return i
		}
		i += 2
	}
	return -1
}

// NormalizeTriplets decodes the unreserved octets of path and writes the other triplets in upper
// case. It does so in place, and returns what is left of path. Every "%" of path has to have its
// two digits.
func NormalizeTriplets(path []byte) []byte {
	normal := path[:0]
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			normal = append(normal, path[i])
			continue
		}
		octet, _ := Triplet(path, i)
		if isUnreserved(octet) {
			normal = append(normal, octet)
		} else {
			normal = AppendTriplet(normal, octet)
		}
		i += 2
	}
	return normal
}

func isUnreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

// Canonical returns the form of a URL in which equal pages are equal. It has no user name, password
// and fragment, and its path is in canonical form.
func (u URL) Canonical() URL {
	path := string(AppendCanonicalPath(nil, u.Path))
	return URL{Scheme: u.Scheme, Host: u.Host, Port: u.Port, Path: path, Query: u.Query}
}
