package resolver

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// table finds the longest key that a path begins with. It is an open-addressed hash table over the
// keys in the arena. One walk over the path gives the hash of each prefix that ends at a "/" or
// with the path.
type table struct {
	arena arena
	// internalRules are the rules for refs with internalRef, until the ruleset is compiled.
	internalRules internalRules
	slots         pages[slot]
	seed          uint64
	// depths has bit min(n, 63) set if there is a key of n segments. Prefixes that cannot equal any
	// key are not looked up.
	depths    uint64
	maxDepth  int
	maxLength int // of keys, in bytes
	// lengths and depthsOf count the keys of each length and of each depth.
	lengths, depthsOf counts
	// rules counts the slots with a rule, and taken the slots that are not empty. gone counts the
	// bytes of records that are no longer used.
	rules, taken, gone int
	foldCase           bool
}

// internalRef marks a ref that is an index into table.internalRules.
const internalRef ref = 1 << 31

// slot is an entry: 30 bits of the key's hash, whether the rule has been removed, whether the key
// is exact, and a ref. 0 is an empty slot. The slot of a removed rule stays that of its key, so
// that no other key gets its number.
type slot uint64

const slotSize = 8 // in bytes

const (
	slotRefBits = 32
	slotExact   = slot(1) << slotRefBits
	slotRemoved = slotExact << 1
	slotTagMask = ^(slotRemoved<<1 - 1)
)

func (s slot) ref() ref        { return ref(s) }
func (s slot) isExact() bool   { return s&slotExact != 0 }
func (s slot) isRemoved() bool { return s&slotRemoved != 0 }

// hasRule reports whether the slot has a rule.
func (s slot) hasRule() bool { return s != 0 && !s.isRemoved() }

func (s slot) withRef(at ref) slot { return s>>slotRefBits<<slotRefBits | slot(at) }

func newSlot(hash uint64, at ref, exact bool) slot {
	s := tagOf(hash) | slot(at)
	if exact {
		s |= slotExact
	}
	return s
}

// tagOf uses the low bits of a hash, because home uses the high ones.
func tagOf(hash uint64) slot { return slot(hash<<34) & slotTagMask }

// slotsPerKey keeps probe sequences short: three fifths of the slots are used.
const slotsPerKey = 5.0 / 3.0

// slotsFor returns the number of slots for a number of keys.
func slotsFor(keys int) int { return int(float64(keys)*slotsPerKey) + 1 }

// home returns the slot at which the search for a hash begins.
func (t *table) home(hash uint64) int {
	at, _ := bits.Mul64(hash, uint64(t.slots.n))
	return int(at)
}

func (t *table) next(at int) int {
	if at++; at == t.slots.n {
		return 0
	}
	return at
}

// keyHash returns the hash and the number of segments of a whole key.
func keyHash(seed uint64, key string) (hash uint64, depth int) {
	hash = seed
	for end := -1; end < len(key); depth++ {
		hash, end = hashSegment(hash, key, end+1)
	}
	return hash, depth
}

// key returns the canonical key of an entry.
func (t *table) key(at ref) string {
	key, _ := t.entry(at)
	return key
}

// entry returns the canonical key of an entry and its record. Until the ruleset is compiled, a rule
// with an internal redirect has no record: it is nil.
func (t *table) entry(at ref) (key string, record []byte) {
	if at&internalRef != 0 {
		return t.internal(at).key, nil
	}
	record = t.arena.bytes(at)
	return recordKey(record), record
}

// internal returns the rule for a ref with internalRef.
func (t *table) internal(at ref) *internalRule {
	return t.internalRules.all.at(int(at &^ internalRef))
}

// recordSize returns the size of the record of an entry.
func (t *table) recordSize(at ref) int {
	var r record
	b := t.arena.bytes(at)
	return len(b) - len(r.decode(&t.arena, b))
}

// ruleAt returns the rule of a record, and the number of its source.
func (t *table) ruleAt(at ref, sources []source) (rule Rule, from int) {
	var r record
	r.decode(&t.arena, t.arena.bytes(at))
	return r.rule(sources), r.position.source
}

// branch returns a table with the same entries, for changes that t does not see.
func (t *table) branch() table {
	b := *t
	b.arena, b.slots = t.arena.branch(), t.slots.branch()
	b.lengths, b.depthsOf = slices.Clone(t.lengths), slices.Clone(t.depthsOf)
	return b
}

// slotOf returns the place of a canonical key's slot, even if its rule has been removed. ok is
// false if there is none.
func (t *table) slotOf(key string) (at int, ok bool) {
	if t.slots.n == 0 {
		return 0, false
	}
	hash, _ := keyHash(t.seed, key)
	for at = t.home(hash); ; at = t.next(at) {
		s := t.slots.at(at)
		if s == 0 {
			return at, false
		}
		if s&slotTagMask == tagOf(hash) && t.key(s.ref()) == key {
			return at, true
		}
	}
}

// insert adds an entry to the table and returns its place. If the key has an entry already, it
// returns the place of that one. A key whose rule was removed gets its old place.
func (t *table) insert(hash uint64, entry slot) (at int, inserted bool) {
	at = t.home(hash)
	for ; t.slots.at(at) != 0; at = t.next(at) {
		s := t.slots.at(at)
		if s&slotTagMask != entry&slotTagMask || t.key(s.ref()) != t.key(entry.ref()) {
			continue
		}
		if !s.isRemoved() {
			return at, false
		}
		break
	}
	t.rules++
	if t.slots.at(at) == 0 {
		t.taken++
	}
	t.slots.set(at, entry)
	return at, true
}

// remove removes the rule of a slot. The slot stays that of the key.
func (t *table) remove(at int) {
	entry := t.slots.at(at)
	t.rules--
	t.gone += t.recordSize(entry.ref())
	t.forgetKey(t.key(entry.ref()))
	t.slots.set(at, entry|slotRemoved)
}

// isWorn reports whether a quarter of the arena is unused, or the table is too full.
func (t *table) isWorn() bool {
	const little = 64 << 10 // bytes; of a small table With itself makes a larger one
	return t.gone+t.arena.lost > max(t.arena.size()/4, little) ||
		t.slots.n*slotSize > little && t.taken > t.slots.n-t.slots.n/4
}

// hasRoom reports whether the table can take more keys.
func (t *table) hasRoom(more int) bool { return t.taken+more < t.slots.n-t.slots.n/8 }

// entries yields the slots with a rule and their places, and pauses now and then.
func (t *table) entries(o *options) iter.Seq2[int, slot] {
	return func(yield func(int, slot) bool) {
		for n, page := range t.slots.all {
			if o.progress != nil {
				o.progress(n*pageLength, t.slots.n)
			}
			for i, s := range page {
				at := n*pageLength + i
				if s.hasRule() && !yield(at, s) {
					return
				}
				o.pauseAfter(at) // in empty slots, too, or it would be a matter of luck
			}
		}
	}
}

// cacheLine is the size in bytes of a line of the processor's cache.
const cacheLine = 64

// fetch brings the records of a page of slots into the processor's cache. They are scattered over
// the memory: here the processor waits for many of them at once, and not for each in turn.
//
//go:noinline
func (t *table) fetch(page *[pageLength]slot) (sum byte) {
	for _, s := range page {
		if at := s.ref(); at != 0 && at&internalRef == 0 {
			b := t.arena.bytes(at)
			sum += b[0] + b[min(cacheLine, len(b)-1)]
		}
	}
	return sum
}

// noteKey makes lookups consider prefixes of the length and the depth of a key.
func (t *table) noteKey(length, depth int) {
	t.lengths.add(length, 1)
	t.depthsOf.add(depth, 1)
	t.maxLength = max(t.maxLength, length)
	t.depths |= depthBit(depth)
	t.maxDepth = max(t.maxDepth, depth)
}

// forgetKey undoes noteKey, so that removed keys do not make lookups slower.
func (t *table) forgetKey(key string) {
	length, depth := len(key), strings.Count(key, "/")+1
	t.lengths.add(length, -1)
	t.depthsOf.add(depth, -1)
	if t.lengths[length] == 0 {
		t.maxLength = t.lengths.last()
	}
	if t.depthsOf[depth] > 0 {
		return
	}
	t.maxDepth, t.depths = t.depthsOf.last(), 0
	for depth, n := range t.depthsOf {
		if n > 0 {
			t.depths |= depthBit(depth)
		}
	}
}

// counts counts how often each small number occurs.
type counts []int32

func (c *counts) add(number, n int) {
	if grown := number + 1 - len(*c); grown > 0 {
		*c = append(*c, make(counts, grown)...)
	}
	(*c)[number] += int32(n)
}

// last returns the largest number that occurs.
func (c counts) last() int {
	for number, n := range slices.Backward(c) {
		if n > 0 {
			return number
		}
	}
	return 0
}

func depthBit(depth int) uint64 { return 1 << min(depth, 63) }

// prefix is a prefix of a path that equals a key.
type prefix struct {
	slot slot // 0 where there is none
	at   int  // the slot's place
	// end is its length, depth its number of segments.
	end, depth int
}

// window limits the lengths of the prefixes that are looked up.
type window struct{ from, to int }

// longest returns the longest prefix of path, cut at "/", that equals a key, and the record of the
// key.
//
// The walk finds entries by hash alone and compares only the last one, so it is linear whatever the
// keys are. If that one differs, which has a probability of 2^-31 for each prefix, a second walk
// compares each.
func (t *table) longest(path string, w window) (prefix, []byte) {
	found := t.walk(path, w, false)
	if found.slot == 0 {
		return found, nil
	}
	key, record := t.entry(found.slot.ref())
	if key == path[:found.end] {
		return found, record
	}
	if found = t.walk(path, w, true); found.slot == 0 {
		return found, nil
	}
	_, record = t.entry(found.slot.ref())
	return found, record
}

func (t *table) walk(path string, w window, compare bool) (found prefix) {
	hash, start := t.seed, 0
	for depth := 1; depth <= t.maxDepth; depth++ {
		var end int
		hash, end = hashSegment(hash, path, start)
		if t.depths&depthBit(depth) != 0 && w.from <= end && end <= w.to {
			if s, at := t.lookup(hash, path, end, compare); s != 0 {
				found = prefix{slot: s, at: at, end: end, depth: depth}
			}
		}
		if end == len(path) {
			break
		}
		start = end + 1
	}
	return found
}

// lookup returns the entry for a prefix of path, or 0, and its place. An exact key matches only the
// whole path, with or without one trailing slash.
func (t *table) lookup(hash uint64, path string, end int, compare bool) (entry slot, at int) {
	tag := tagOf(hash)
	for at = t.home(hash); ; at = t.next(at) {
		s := t.slots.at(at)
		if s == 0 {
			return 0, at
		}
		if s&(slotTagMask|slotRemoved) != tag || s.isExact() && path[end:] != "" && path[end:] != "/" {
			continue
		}
		if !compare || t.key(s.ref()) == path[:end] {
			return s, at
		}
	}
}

// hashSegment adds the segment of path that begins at start to a hash, and returns where the
// segment ends: at a "/", or at the path's end. It reads eight bytes at a time.
func hashSegment(hash uint64, path string, start int) (sum uint64, end int) {
	for len(path)-start >= 8 {
		word := load64(path[start:])
		if slash := firstSlash(word); slash < 8 {
			return finishSegment(hash, word&^(^uint64(0)<<(8*slash)), slash), start + slash
		}
		hash = mix(hash^word, 0xe7037ed1a0b428db)
		start += 8
	}
	word := loadTail(path[start:])
	n := min(firstSlash(word), len(path)-start)
	return finishSegment(hash, word&^(^uint64(0)<<(8*n)), n), start + n
}

// finishSegment adds the last n bytes of a segment, fewer than eight, to a hash. Their number fills
// the byte that they leave free, so that no two segments look alike.
func finishSegment(hash, tail uint64, n int) uint64 {
	return mix(hash^tail^uint64(n+1)<<56, 0xa0761d6478bd642f)
}

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// firstSlash returns the index of the first byte of word that is "/", or 8.
func firstSlash(word uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	zeroes := word ^ ones*'/'
	return bits.TrailingZeros64((zeroes-ones)&^zeroes&highs) >> 3
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadTail loads up to seven bytes, in pieces that may overlap.
func loadTail(s string) uint64 {
	n := len(s)
	switch {
	case n >= 4:
		low, high := load32(s), load32(s[n-4:])
		return uint64(low) | uint64(high)<<(8*(n-4))
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)) | uint64(s[n-1])<<(8*(n-1))
	}
	return 0
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
