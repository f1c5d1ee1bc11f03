package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// matchSegment reports whether a segment of a path has the text around an expression. It returns
// the capture, as the path spells it.
func (x *templateIndex) matchSegment(
	prefix, suffix, segment string,
) (captured string, ok bool) {
	start, ok := x.cutPrefix(segment, prefix)
	if !ok {
		return "", false
	}
	end, ok := x.cutSuffix(segment, suffix)
	return segment[start:max(start, end)], ok && end > start
}

// cutPrefix reports whether a segment begins with canonical text, in any spelling, and where that
// ends.
func (x *templateIndex) cutPrefix(segment, prefix string) (end int, ok bool) {
	if strings.HasPrefix(segment, prefix) && !isWithinTriplet(segment, len(prefix)) {
		return len(prefix), true
	}
	var memory [3]byte
	for prefix != "" {
		unit := nextUnit(segment[end:])
		if unit == 0 {
			return 0, false
		}
		canonical := x.appendUnit(memory[:0], segment[end:end+unit])
		if !strings.HasPrefix(prefix, text(canonical)) {
			return 0, false
		}
		prefix, end = prefix[len(canonical):], end+unit
	}
	return end, true
}

// cutSuffix reports whether a segment ends in canonical text, in any spelling, and where that
// begins.
func (x *templateIndex) cutSuffix(segment, suffix string) (start int, ok bool) {
	start = len(segment) - len(suffix)
	if strings.HasSuffix(segment, suffix) && !isWithinTriplet(segment, start) {
		return start, true
	}
	var memory [3]byte
	for start = len(segment); suffix != "" && start > 0; {
		unit := lastUnit(segment[:start])
		canonical := x.appendUnit(memory[:0], segment[start-unit:start])
		if !strings.HasSuffix(suffix, text(canonical)) {
			return 0, false
		}
		suffix, start = suffix[:len(suffix)-len(canonical)], start-unit
	}
	return start, suffix == ""
}

// appendUnit appends the canonical form of a unit, which stands for one octet.
func (x *templateIndex) appendUnit(dst []byte, unit string) []byte {
	start := len(dst)
	dst = append(dst, unit...)
	if len(unit) == 3 {
		dst = dst[:start+len(weburl.NormalizeTriplets(dst[start:]))]
	}
	if x.opts.foldCase {
		foldCase(dst[start:])
	}
	return dst
}

// canonicalUnits returns a segment with each unit in canonical form, even if a "%" does not begin a
// triplet.
func (x *templateIndex) canonicalUnits(segment string) string {
	canonical := make([]byte, 0, len(segment))
	for at := 0; at < len(segment); {
		unit := nextUnit(segment[at:])
		canonical = x.appendUnit(canonical, segment[at:at+unit])
		at += unit
	}
	return text(canonical)
}

// isWithinTriplet reports whether a place in a path is inside a triplet.
func isWithinTriplet(path string, at int) bool {
	for start := max(0, at-2); start < at; start++ {
		if _, ok := weburl.Triplet(path, start); ok && start+3 > at {
			return true
		}
	}
	return false
}

// lastUnit returns the length of the last unit of a path, or 0 if it is empty.
func lastUnit(path string) int {
	if n := len(path); n >= 3 && nextUnit(path[n-3:]) == 3 {
		return 3
	}
	return min(1, len(path))
}

// nextUnit returns the length of the next unit of a path, or 0 at its end. A unit is a triplet or a
// byte.
func nextUnit(path string) int {
	if _, ok := weburl.Triplet(path, 0); ok {
		return 3
	}
	return min(1, len(path))
}
