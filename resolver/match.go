package resolver

import (
	"math"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// literalMatch is the result of longest-prefix matching in the table (3.3.1).
type literalMatch struct {
	ref ref
	at  uint32 // its slot's place
	// remaining is the remaining path, as the pathname spells it (R3). It is always empty for an exact
	// key.
	remaining string
}

// match finds the longest key that pathname begins with, and its record; ref is 0 if there is none.
// Until the ruleset is compiled, rules with internal redirects have no record: it is nil. pathname
// begins with "/" and is percent-encoded with the path set.
func (t *table) match(pathname string) (literalMatch, []byte) {
	if len(pathname) < 2 {
		return literalMatch{}, nil // R4
	}
	all := pathname[1:]
	// No key is longer, even if each octet is percent-encoded. Two more bytes show whether an exact
	// key matches the whole path.
	path := all[:min(len(all), len("%XX")*t.maxLength+2)]
	var found prefix
	var record []byte
	if !t.foldCase && strings.IndexByte(path, '%') < 0 {
		found, record = t.longest(path, window{1, math.MaxInt})
	} else {
		found, record = t.longestCanonical(path)
	}
	switch {
	case found.slot == 0:
		return literalMatch{}, nil
	case found.slot.isExact():
		return literalMatch{ref: found.slot.ref(), at: uint32(found.at)}, record
	}
	return literalMatch{found.slot.ref(), uint32(found.at), all[found.end:]}, record
}

// longestCanonical finds what longest finds, but compares the canonical forms of the candidates,
// each by itself. Candidates that contain a "%" without two hex digits are compared as they are
// (R3). The end of the result is a place in path, not in a canonical form.
func (t *table) longestCanonical(path string) (prefix, []byte) {
	path = t.reach(path)
	var memory [256]byte
	settled := len(path)
	if bad := weburl.MalformedTriplet(path); bad >= 0 {
		asIs := t.folded(append(memory[:0], path...))
		if found, record := t.longest(text(asIs), window{bad + 1, math.MaxInt}); found.slot != 0 {
			return found, record
		}
		if settled = strings.LastIndexByte(path[:bad], '/'); settled < 0 {
			return prefix{}, nil
		}
	}
	canonical := weburl.NormalizeTriplets(append(memory[:0], path[:settled]...))
	w := window{1, len(canonical)}
	canonical = t.folded(append(canonical, path[settled:]...))
	found, record := t.longest(text(canonical), w)
	found.end = endOfSegment(path, found.depth)
	return found, record
}

// reach returns as much of path as decides what it matches: as many segments as the deepest key
// has, and what shows whether an exact key matches the whole path.
func (t *table) reach(path string) string {
	end := 0
	for range t.maxDepth + 1 {
		i := strings.IndexByte(path[end:], '/')
		if i < 0 {
			return path
		}
		end += i + 1
	}
	return path[:end]
}

func (t *table) folded(path []byte) []byte {
	if t.foldCase {
		foldCase(path)
	}
	return path
}

// endOfSegment returns where the n-th segment of path ends.
func endOfSegment(path string, n int) int {
	end := -1
	for range n {
		i := strings.IndexByte(path[end+1:], '/')
		if i < 0 {
			return len(path)
		}
		end += i + 1
	}
	return end
}
