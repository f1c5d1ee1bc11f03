package weburl

import "strings"

// Target is a request target, split and spelled as the properties of new URL(origin + target).
type Target struct {
	Pathname string // begins with "/"
	Search   string // with its "?", "" when missing or empty
	Hash     string // with its "#", "" when missing or empty
}

// SplitTarget splits a request target; ok is false if it does not begin with "/". It is always a
// path, so "//evil.test/x" is the path "//evil.test/x" and never names a host (reading R2). If the
// standard changes nothing, as in nearly all requests, the parts alias target and nothing is
// allocated.
func SplitTarget(target string) (t Target, ok bool) {
	if target == "" || target[0] != '/' {
		return Target{}, false
	}
	if t, ok = splitClean(target); ok {
		return t, true
	}
	return rewriteTarget(target), true
}

// splitClean splits a target in one pass; ok is false if something has to be rewritten. White space
// and ill-formed UTF-8 need no extra test, because every set encodes those bytes.
func splitClean(target string) (t Target, ok bool) {
	query, ok := scanPath(target)
	if !ok {
		return Target{}, false
	}
	fragment := skipPlain(target, query, QuerySet)
	if fragment < len(target) && target[fragment] != '#' {
		return Target{}, false
	}
	if skipPlain(target, fragment, FragmentSet) < len(target) {
		return Target{}, false
	}
	return Target{
		Pathname: target[:query],
		Search:   withoutBarePrefix(target[query:fragment]),
		Hash:     withoutBarePrefix(target[fragment:]),
	}, true
}

// scanPath returns the end of the path of target; ok is false if the path has to be rewritten.
func scanPath(target string) (end int, ok bool) {
	for i := range len(target) {
		facts := classes[target[i]]
		if !facts.has(structuralInPath | encodeInPath) {
			continue
		}
		switch target[i] {
		case '/':
			if dotSegmentFollows(target, i+1) {
				return i, false
			}
		case '?', '#':
			return i, true
		default:
			return i, false
		}
	}
	return len(target), true
}

// dotSegmentFollows reports whether target[start:] begins with a dot segment.
func dotSegmentFollows(target string, start int) bool {
	if start == len(target) || target[start] != '.' && target[start] != '%' {
		return false
	}
	end := start
	for end < len(target) && !classes[target[end]].has(structuralInPath) {
		end++
	}
	return IsDotSegment(target[start:end])
}

// skipPlain returns the place of the first byte from start that set encodes, or the length of
// target.
func skipPlain(target string, start int, set EncodeSet) int {
	for i := start; i < len(target); i++ {
		if set.has(target[i]) {
			return i
		}
	}
	return len(target)
}

// withoutBarePrefix returns "" for a "?" or "#" alone, and else part.
func withoutBarePrefix(part string) string {
	if len(part) == 1 {
		return ""
	}
	return part
}

// rewriteTarget is the standard's parser for the path, the query and the fragment, written into one
// buffer.
func rewriteTarget(target string) Target {
	rest, fragment, _ := strings.Cut(clean(target), "#")
	path, query, _ := strings.Cut(rest, "?")

	var stack [256]byte // spares ordinary targets an allocation
	b := appendPath(stack[:0], path)
	search := len(b)
	b = appendPart(b, '?', query, QuerySet)
	hash := len(b)
	b = appendPart(b, '#', fragment, FragmentSet)

	s := string(b)
	return Target{Pathname: s[:search], Search: s[search:hash], Hash: s[hash:]}
}

// appendPart appends a query or a fragment with its prefix, and nothing when it is empty.
func appendPart(dst []byte, prefix byte, part string, set EncodeSet) []byte {
	if part == "" {
		return dst
	}
	return AppendEncoded(append(dst, prefix), part, set)
}
