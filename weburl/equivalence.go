package weburl

// Two URLs are the same page if their canonical forms are equal. The URL Standard's parser has
// normalised hosts, default ports and dot segments. The canonical form also normalises the spelling
// of octets in the path, which the standard keeps (RFC 3986 6.2.2, RFC 9110 4.2.3). Queries and
// fragments are compared as written, because their meaning depends on the application.

// AppendCanonicalPath appends the canonical form of a path, of a part of one, or of a key (R3). The
// path is percent-encoded with the URL Standard's path set. If two hex digits follow every "%",
// unreserved octets are then decoded, and other triplets are in upper case. The meaning of the path
// never changes, and a canonical path is its own canonical form.
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
// case. It works in place, and returns the shortened path. Every "%" in path must have two digits.
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

// Canonical returns the canonical form of a URL, which is equal for URLs of the same page. It has
// no user name, password or fragment, and its path is in canonical form.
func (u URL) Canonical() URL {
	path := string(AppendCanonicalPath(nil, u.Path))
	return URL{Scheme: u.Scheme, Host: u.Host, Port: u.Port, Path: path, Query: u.Query}
}
