package weburl

import "bytes"

// appendPath appends path to dst as the standard's path state leaves it. A "/" stands before every
// segment, also the first and also for "\"; dot segments are resolved, and the rest is
// percent-encoded. The path is empty or begins with a slash of either kind.
func appendPath(dst []byte, path string) []byte {
	root := len(dst)
	if path == "" {
		return append(dst, '/')
	}
	for path != "" {
		segment, rest := cutSegment(path[1:])
		last := rest == ""
		switch dots(segment) {
		case 0:
			dst = AppendEncoded(append(dst, '/'), segment, PathSet)
		case 2:
			dst = dropSegment(dst, root)
			fallthrough
		case 1:
			if last {
				dst = append(dst, '/')
			}
		}
		path = rest
	}
	return dst
}

// cutSegment cuts s before its first slash of either kind.
func cutSegment(s string) (segment, rest string) {
	for i := range len(s) {
		if isSlash(s[i]) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// dropSegment removes the last segment of the path that begins at dst[root], if it has any.
func dropSegment(dst []byte, root int) []byte {
	if slash := bytes.LastIndexByte(dst[root:], '/'); slash >= 0 {
		return dst[:root+slash]
	}
	return dst
}

// IsDotSegment reports whether the standard reads a segment of a path as "." or "..". Each dot may
// be written "%2e".
func IsDotSegment(segment string) bool { return dots(segment) > 0 }

// dots returns 1 for a segment that is a single dot, 2 for a double dot, else 0. Each dot may be
// spelled "." or "%2e".
func dots(segment string) int {
	for n := range 3 {
		if segment == "" {
			return n
		}
		size := dot(segment)
		if size == 0 {
			return 0
		}
		segment = segment[size:]
	}
	return 0
}

// dot returns the length of the dot that s, which is not empty, begins with, and 0 if none.
func dot(s string) int {
	switch {
	case s[0] == '.':
		return 1
	case len(s) >= 3 && s[0] == '%' && s[1] == '2' && s[2]|0x20 == 'e':
		return 3
	}
	return 0
}
