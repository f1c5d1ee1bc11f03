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
	// exact and below are the first lines by the hash of a path: those that take the path itself, and
	// those that take all below it.
	exact, below map[uint64]int
	// later are the other lines of a path, for when the first one is refused.
	later map[uint64][]int
	// deepest is how many slashes a path has at most of which a line takes all below.
	deepest int
}

const none = -1

func newOwners() *owners {
	return &owners{
		seed: maphash.MakeSeed(), exact: make(map[uint64]int), below: make(map[uint64]int),
		later: make(map[uint64][]int),
	}
}

// register takes down that a line takes a path, and perhaps all below it.
func (o *owners) register(key string, isBelow bool, line int) {
	hash := o.hash(key)
	if _, there := o.exact[hash]; !there {
		o.exact[hash] = line
	} else {
		o.later[hash] = append(o.later[hash], line)
	}
	if _, there := o.below[hash]; isBelow && !there {
		o.below[hash] = line
		o.deepest = max(o.deepest, strings.Count(key, "/"))
	}
}

// forget takes back that a line takes a path, and perhaps all below it, as it is refused.
// takesBelow tells of a line whether it takes all below.
func (o *owners) forget(key string, line int, takesBelow func(line int) bool) {
	hash := o.hash(key)
	later := o.later[hash]
	replace := func(first map[uint64]int, can func(int) bool) {
		if owner, there := first[hash]; !there || owner != line {
			return
		}
		delete(first, hash)
		if n := slices.IndexFunc(later, can); n >= 0 {
			first[hash] = later[n]
		}
	}
	isOther := func(n int) bool { return n != line }
	replace(o.exact, isOther)
	replace(o.below, func(n int) bool { return n != line && takesBelow(n) })
	o.later[hash] = slices.DeleteFunc(later, func(n int) bool { return n == line })
}

func (o *owners) hash(key string) uint64 { return maphash.String(o.seed, canonical(key)) }

// above gives the hashes of a path and of those above it: a, a/b, a/b/c. It takes as long as one
// reading of the path.
func (o *owners) above(key string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		key, hashed := canonical(key), 0
		var h maphash.Hash
		h.SetSeed(o.seed)
		for i := range len(key) {
			if key[i] != '/' {
				continue
			}
			h.WriteString(key[hashed:i]) //nolint:errcheck // it never fails
			hashed = i
			if !yield(h.Sum64()) {
				return
			}
		}
		h.WriteString(key[hashed:]) //nolint:errcheck // it never fails
		yield(h.Sum64())
	}
}

// share is how much of a path and all below it a line takes.
type share int

const (
	nothing share = iota
	itself        // the path, and nothing below it
	all
)

// of returns the line in front of the i-th one that takes a path, and perhaps all below it.
func (o *owners) of(i int, key string, isBelow bool) (line int, has share) {
	line = none
	if first, there := o.exact[o.hash(key)]; there && first < i {
		line, has = first, itself
		if !isBelow {
			has = all
		}
	}
	if len(o.below) == 0 || has == all {
		return line, has
	}
	for hash := range o.aboveTaken(key) {
		if first, there := o.below[hash]; there && first < i {
			return first, all
		}
	}
	return line, has
}

// aboveTaken is above for those of which a line may take all below.
func (o *owners) aboveTaken(key string) iter.Seq[uint64] {
	end := 0
	for range o.deepest + 1 {
		next := strings.IndexByte(key[end:], '/')
		if next < 0 {
			return o.above(key)
		}
		end += next + 1
	}
	return o.above(key[:end-1])
}

// first returns the first line of all that takes a path.
func (o *owners) first(key string) (line int, ok bool) {
	line, ok = o.exact[o.hash(key)]
	consider := func(hash uint64) {
		if i, there := o.below[hash]; there && (!ok || i < line) {
			line, ok = i, true
		}
	}
	if len(o.below) > 0 {
		for hash := range o.aboveTaken(key) {
			consider(hash)
		}
		consider(o.hash(""))
	}
	return line, ok
}

// registerLine takes down what a line takes. It reports whether that has variables, and whether it
// is all below a path.
func (m *maker) registerLine(i int) (isDynamic, isBelow bool) {
	stored := &m.lines[i]
	if stored.key != "" {
		m.owners.register(stored.key, false, i)
		return false, false
	}
	if stored.refused != nil {
		return false, false
	}
	for j := range stored.translation.sets {
		set := &stored.translation.sets[j]
		isBelow = isBelow || set.below
		if isDynamic = isDynamic || !set.isLiteral(); set.isLiteral() {
			m.owners.register(set.key(), set.below, i)
		}
	}
	return isDynamic, isBelow
}

// forgetLine takes back what a line takes.
func (m *maker) forgetLine(i int) {
	if m.lines[i].translation == nil {
		return
	}
	for j := range m.lines[i].translation.sets {
		set := &m.lines[i].translation.sets[j]
		if !set.isLiteral() {
			continue
		}
		key := set.key()
		m.owners.forget(key, i, func(line int) bool {
			t := m.lines[line].translation
			return t != nil && slices.ContainsFunc(t.sets, func(s paths) bool {
				return s.below && s.isLiteral() && canonical(s.key()) == canonical(key)
			})
		})
	}
}

// ownerOf returns the line in front of the i-th one that takes a set without variables, and how
// much of it.
func (m *maker) ownerOf(i int, set *paths) (line int, has share) {
	if !set.isLiteral() {
		return none, nothing
	}
	return m.owners.of(i, set.key(), set.below)
}

// ownerOfAny is ownerOf also where a line in front has variables.
func (m *maker) ownerOfAny(i int, set *paths) (line int, has share) {
	line, has = m.ownerOf(i, set)
	if has != nothing || !set.below || !m.isCompared || len(set.segments) == 0 {
		return line, has
	}
	path := set.itself()
	rule := madeRule{rule: resolver.Rule{Key: path.key(), Exact: true}, set: path, line: i}
	if line, _, _ := m.inFront(&rule); line != none {
		return line, itself
	}
	return line, nothing
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
	for i := range others {
		if s.isWithin(&others[i]) {
			return true
		}
	}
	return false
}

// keyOf returns the key of a path.
func (m *maker) keyOf(path string) string {
	if m.Slashes == SlashesKept {
		return strings.TrimPrefix(path, "/")
	}
	return strings.Trim(path, "/")
}
