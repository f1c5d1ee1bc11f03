package redirects

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// The first of the two main questions: which line owns a path? It is the first that matches it. Two
// maps answer this for paths without variables, and the rules made so far for others.

// owners finds the first line that matches a path without variables.
type owners struct {
	seed maphash.Seed
	// exact and below are the lines that match a path itself, and all below it.
	exact, below linesByHash
	isRefused    func(line int) bool
}

// linesByHash are lines, in order, by the hash of a path.
type linesByHash struct {
	first map[uint64]int
	later map[uint64][]int
}

const noLine = -1

func newOwners(isRefused func(line int) bool) *owners {
	newLines := func() linesByHash {
		return linesByHash{first: make(map[uint64]int), later: make(map[uint64][]int)}
	}
	return &owners{maphash.MakeSeed(), newLines(), newLines(), isRefused}
}

// register records that a line matches a path, and perhaps all below it.
func (o *owners) register(key string, isBelow bool, line int) {
	hash := o.hash(key)
	o.exact.addLine(hash, line)
	if isBelow {
		o.below.addLine(hash, line)
	}
}

func (l *linesByHash) addLine(hash uint64, line int) {
	if _, there := l.first[hash]; there {
		l.later[hash] = append(l.later[hash], line)
	} else {
		l.first[hash] = line
	}
}

// firstOf returns the first line with a hash that is not refused.
func (o *owners) firstOf(lines *linesByHash, hash uint64) (line int, ok bool) {
	for line, ok = lines.first[hash]; ok && o.isRefused(line); line, ok = lines.first[hash] {
		later := lines.later[hash]
		if len(later) == 0 {
			delete(lines.first, hash)
			continue
		}
		lines.first[hash], lines.later[hash] = later[0], later[1:]
	}
	return line, ok
}

func (o *owners) hash(key string) uint64 { return maphash.String(o.seed, canonical(key)) }

// above yields the hashes of a path and of all above it: "", a, a/b, a/b/c. No line matches all
// below a path with more segments than a template can have.
func (o *owners) above(key string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var h maphash.Hash
		h.SetSeed(o.seed)
		goesOn := yield(h.Sum64())
		for left, n := canonical(key), 0; goesOn && left != "" && n < maxSegments; n++ {
			end := 1 + indexAny(left[1:], "/")
			h.WriteString(left[:end]) //nolint:errcheck // it cannot fail
			left, goesOn = left[end:], yield(h.Sum64())
		}
	}
}

// share is how much of a path and all below it a line matches.
type share int

const (
	shareNone share = iota
	sharePath       // the path, and nothing below it
	shareAll
)

// ownerOf returns the first line before the i-th one that matches a path, and perhaps all below it.
func (o *owners) ownerOf(i int, key string, isBelow bool) (line int, has share) {
	line = noLine
	if first, there := o.firstOf(&o.exact, o.hash(key)); there && first < i {
		line, has = first, sharePath
		if !isBelow {
			has = shareAll
		}
	}
	if len(o.below.first) == 0 {
		return line, has
	}
	for hash := range o.above(key) {
		first, there := o.firstOf(&o.below, hash)
		if there && first < i && (has != shareAll || first < line) {
			line, has = first, shareAll
		}
	}
	return line, has
}

// ownerOf returns the line before the i-th one that matches a set without variables, and how much
// of it.
func (m *maker) ownerOf(i int, set *paths) (line int, has share) {
	if !set.isLiteral() {
		return noLine, shareNone
	}
	return m.owners.ownerOf(i, set.key(), set.below)
}

// ownerOfAny is ownerOf that also considers earlier lines with variables. The set is one of t's.
func (m *maker) ownerOfAny(i int, t *translation, set *paths) (line int, has share, err error) {
	line, has = m.ownerOf(i, set)
	if has != shareNone || !set.below || !m.isCompared || len(set.segments) == 0 {
		return line, has, nil
	}
	path := set.itself()
	isExact := t.outcome() == "" && !t.isAppended(set) // like the line's rule
	rule := madeRule{rule: resolver.Rule{Key: path.key(), Exact: isExact}, set: path, line: i}
	if line, _, err = m.inFront(&rule); line != noLine {
		has = sharePath
	}
	return line, has, err
}

// isHidden reports whether earlier lines, or the i-th one, match all paths of a line.
func (m *maker) isHidden(line int, t *translation, i int) bool {
	for j := range t.sets {
		set := &t.sets[j]
		if _, has := m.ownerOf(line, set); has == shareAll {
			continue
		}
		if i >= line || !set.isWithinAny(m.translationOf(i).sets) {
			return false
		}
	}
	return true
}

// isWithinAny reports whether a set is a subset of one of several.
func (s *paths) isWithinAny(others []paths) bool {
	return slices.ContainsFunc(others, func(other paths) bool { return s.isWithin(&other) })
}

// keyOf returns the key of a path.
func (m *maker) keyOf(path string) string {
	if m.Slashes == SlashesKept {
		return strings.TrimPrefix(path, "/")
	}
	return strings.Trim(path, "/")
}
