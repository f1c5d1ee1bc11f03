package redirects

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// The first of two questions on which everything rests: which line owns a path? It is the first
// that takes it. For a path without variables two maps tell it, and for others the rules made so
// far.

// owners knows which line is the first to take a path without variables.
type owners struct {
	seed maphash.Seed
	// exact and below are the lines that take a path itself, and all below it.
	exact, below linesByHash
	isRefused    func(line int) bool
}

// linesByHash are lines, in their order, by the hash of a path.
type linesByHash struct {
	first map[uint64]int
	later map[uint64][]int
}

const none = -1

func newOwners(isRefused func(line int) bool) *owners {
	newLines := func() linesByHash {
		return linesByHash{first: make(map[uint64]int), later: make(map[uint64][]int)}
	}
	return &owners{maphash.MakeSeed(), newLines(), newLines(), isRefused}
}

// register takes down that a line takes a path, and perhaps all below it.
func (o *owners) register(key string, isBelow bool, line int) {
	hash := o.hash(key)
	o.exact.add(hash, line)
	if isBelow {
		o.below.add(hash, line)
	}
}

func (l *linesByHash) add(hash uint64, line int) {
	if _, there := l.first[hash]; there {
		l.later[hash] = append(l.later[hash], line)
	} else {
		l.first[hash] = line
	}
}

// firstOf returns the first line by a hash that is not refused.
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

// above gives the hashes of a path and of all above it: "", a, a/b, a/b/c. No line takes all below
// a path of more segments than a template has.
func (o *owners) above(key string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var h maphash.Hash
		h.SetSeed(o.seed)
		goesOn := yield(h.Sum64())
		for left, n := canonical(key), 0; goesOn && left != "" && n < maxSegments; n++ {
			end := 1 + indexAny(left[1:], "/")
			h.WriteString(left[:end]) //nolint:errcheck // it never fails
			left, goesOn = left[end:], yield(h.Sum64())
		}
	}
}

// share is how much of a path and all below it a line takes.
type share int

const (
	nothing share = iota
	itself        // the path, and nothing below it
	all
)

// of returns the first line in front of the i-th one that takes a path, and perhaps all below it.
func (o *owners) of(i int, key string, isBelow bool) (line int, has share) {
	line = none
	if first, there := o.firstOf(&o.exact, o.hash(key)); there && first < i {
		line, has = first, itself
		if !isBelow {
			has = all
		}
	}
	if len(o.below.first) == 0 {
		return line, has
	}
	for hash := range o.above(key) {
		first, there := o.firstOf(&o.below, hash)
		if there && first < i && (has != all || first < line) {
			line, has = first, all
		}
	}
	return line, has
}

// ownerOf returns the line in front of the i-th one that takes a set without variables, and how
// much of it.
func (m *maker) ownerOf(i int, set *paths) (line int, has share) {
	if !set.isLiteral() {
		return none, nothing
	}
	return m.owners.of(i, set.key(), set.below)
}

// ownerOfAny is ownerOf also where a line in front has variables. The set is one of t's.
func (m *maker) ownerOfAny(i int, t *translation, set *paths) (line int, has share, err error) {
	line, has = m.ownerOf(i, set)
	if has != nothing || !set.below || !m.isCompared || len(set.segments) == 0 {
		return line, has, nil
	}
	path := set.itself()
	isExact := t.outcome() == "" && !t.isAppended(set) // as the line's rule
	rule := madeRule{rule: resolver.Rule{Key: path.key(), Exact: isExact}, set: path, line: i}
	if line, _, err = m.inFront(&rule); line != none {
		has = itself
	}
	return line, has, err
}

// isHidden reports whether lines in front take all that a line takes: one without variables, or the
// i-th one.
func (m *maker) isHidden(line int, t *translation, i int) bool {
	for j := range t.sets {
		set := &t.sets[j]
		if _, has := m.ownerOf(line, set); has == all {
			continue
		}
		if i >= line || !set.isWithinAny(m.translationOf(i).sets) {
			return false
		}
	}
	return true
}

// isWithinAny reports whether all paths of a set are those of one of several.
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
