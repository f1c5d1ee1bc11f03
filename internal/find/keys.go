package find

import (
	"cmp"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// keys are the rule numbers of a ruleset, sorted by their keys. A number keeps its key when its
// rule is changed or removed, so only new numbers have to be added:
//
//	sorted  | 7 | 2 | 9 | 4 | ...   shared with the keys before, 4 bytes for each rule
//	added   | 8 | 1 |               sorted as well; merged when there are many
type keys struct {
	ruleset       *resolver.Ruleset
	sorted, added []uint32
}

// mostAdded is how many numbers are added before a part is merged or made anew.
const mostAdded = 1024

// pauseEvery is how many rules are examined between two pauses.
const pauseEvery = 64

func (k *keys) source() *resolver.Ruleset { return k.ruleset }

func (k *keys) key(number uint32) string { return k.ruleset.KeyOf(int(number)) }

func (k *keys) compare(a, b uint32) int { return compareKeys(k.key(a), k.key(b)) }

func (k *keys) follow(ruleset *resolver.Ruleset) (next *keys, isWorn bool) {
	fresh := newNumbers(k.ruleset, ruleset)
	next = &keys{ruleset, k.sorted, k.added}
	if len(fresh) > 0 {
		next.added = append(slices.Clone(k.added), fresh...)
		slices.SortFunc(next.added, next.compare)
	}
	if len(next.added) > mostAdded {
		next.sorted, next.added = next.all(), nil
	}
	return next, false
}

// all returns all numbers, sorted.
func (k *keys) all() []uint32 {
	if len(k.added) == 0 {
		return k.sorted
	}
	all := make([]uint32, 0, len(k.sorted)+len(k.added))
	rest := k.sorted
	for _, n := range k.added {
		at, _ := slices.BinarySearchFunc(rest, n, k.compare)
		all = append(append(all, rest[:at]...), n)
		rest = rest[at:]
	}
	return append(all, rest...)
}

func (x *Index) makeKeys(ruleset *resolver.Ruleset) *keys { return makeKeys(ruleset, x.pause) }

// makeKeys sorts all numbers of a ruleset.
func makeKeys(ruleset *resolver.Ruleset, pause func()) *keys {
	k := &keys{ruleset: ruleset}
	s := sorter{keys: k, pause: pause}
	for n := range ruleset.Numbers() {
		if ruleset.KeyOf(n) != "" {
			s.all = append(s.all, headed{number: uint32(n)})
		}
		s.step()
	}
	s.sort(s.all, 0)
	k.sorted = make([]uint32, len(s.all))
	for i, h := range s.all {
		k.sorted[i] = h.number
	}
	return k
}

// sorter sorts numbers by eight bytes of their keys at a time, so that most comparisons do not read
// keys.
type sorter struct {
	*keys
	all   []headed
	pause func()
	steps int
}

// headed is a number with the next eight bytes of its key's form, zero after its end.
type headed struct {
	head   uint64
	number uint32
}

// deepest is how many bytes are compared in this way.
const deepest = 64

// sort sorts numbers whose keys have the first depth bytes in common.
func (s *sorter) sort(all []headed, depth int) {
	if len(all) < 2 {
		return
	}
	for i := range all {
		all[i].head = headOf(s.key(all[i].number), depth)
		s.step()
	}
	slices.SortFunc(all, func(a, b headed) int {
		s.step()
		return cmp.Compare(a.head, b.head)
	})
	for start, end := 0, 0; start < len(all); start = end {
		for end = start; end < len(all) && all[end].head == all[start].head; end++ {
		}
		if run := all[start:end]; byte(run[0].head) != 0 && depth < deepest {
			s.sort(run, depth+8)
		} else { // some keys have ended, or are long
			slices.SortFunc(run, func(a, b headed) int {
				s.step()
				return s.compare(a.number, b.number)
			})
		}
	}
}

func (s *sorter) step() {
	if s.steps++; s.steps%pauseEvery == 0 {
		s.pause()
	}
}

// headOf returns eight bytes of a key's form, the first one as the highest.
func headOf(key string, depth int) (head uint64) {
	at, n := 0, 0
	for ; at < len(key) && n < depth+8; n++ {
		var c byte
		if c, at = near.FormByte(key, at); n >= depth {
			head = head<<8 | uint64(c)
		}
	}
	return head << (8 * (depth + 8 - max(n, depth)))
}
