package reverse

import (
	"math/bits"
	"slices"
)

// table has the rules by the hashes of their destinations. Rules with one hash are in the order of
// their keys, the better short URL first. A table shares chunks with the one that it was made from:
//
//	chunks    | c0 | c1 | c2 | ...         by the first bits of a hash
//	               |
//	               v
//	          starts  | 0 | 1 | 1 | 3 |    by its next bits: where in the entries a bucket begins
//	          entries | e | e | e | ...    sorted
type table struct {
	chunks []*chunk
	shift  int // of the bits that tell the chunk
}

type chunk struct {
	starts  [buckets + 1]uint32
	entries []entry
}

// A chunk has this many buckets, two to four for each rule.
const (
	bucketBits = 9
	buckets    = 1 << bucketBits
)

// entry is a rule with a destination:
//
//	| 32 bits of the hash | exact: 1 bit | the rule's number: 31 bits |
type entry uint64

const exactEntry entry = 1 << 31

func newEntry(hash uint32, number int, exact bool) entry {
	e := entry(hash)<<32 | entry(number)
	if exact {
		e |= exactEntry
	}
	return e
}

func (e entry) hash() uint32  { return uint32(e >> 32) }
func (e entry) isExact() bool { return e&exactEntry != 0 }
func (e entry) number() int   { return int(e & (exactEntry - 1)) }

// newTable returns a table of sorted entries.
func newTable(entries []entry) table {
	chunkBits := bits.Len(uint(len(entries)) / (buckets / 2))
	t := table{make([]*chunk, 1<<chunkBits), 32 - chunkBits}
	for i := range t.chunks {
		n, _ := slices.BinarySearchFunc(entries, i+1, func(e entry, chunk int) int {
			return int(e.hash()>>t.shift) - chunk
		})
		t.chunks[i] = t.newChunk(slices.Clip(entries[:n]))
		entries = entries[n:]
	}
	return t
}

func (t *table) newChunk(entries []entry) *chunk {
	c := &chunk{entries: entries}
	for _, e := range entries {
		c.starts[t.bucket(e.hash())+1]++
	}
	for i := range buckets {
		c.starts[i+1] += c.starts[i]
	}
	return c
}

func (t *table) bucket(hash uint32) int { return int(hash >> (t.shift - bucketBits) % buckets) }

// from returns the entries with a hash. Entries with other hashes may follow.
func (t *table) from(hash uint32) []entry {
	c, bucket := t.chunks[hash>>t.shift], t.bucket(hash)
	entries := c.entries[c.starts[bucket]:c.starts[bucket+1]]
	if len(entries) > 0 && entries[0].hash() < hash {
		at, _ := slices.BinarySearch(entries, entry(hash)<<32) // of very many it may be the last
		return entries[at:]
	}
	return entries
}

// edit adds an entry, or removes it.
type edit struct {
	entry
	isRemoved bool
}

// with returns a table with edits, which are sorted like entries.
func (t *table) with(edits []edit, compare func(a, b entry) int) table {
	next := table{slices.Clone(t.chunks), t.shift}
	for len(edits) > 0 {
		at := edits[0].hash() >> t.shift
		n := slices.IndexFunc(edits, func(e edit) bool { return e.hash()>>t.shift != at })
		if n < 0 {
			n = len(edits)
		}
		next.chunks[at] = t.newChunk(edited(t.chunks[at].entries, edits[:n], compare))
		edits = edits[n:]
	}
	return next
}

// edited returns entries with edits.
func edited(entries []entry, edits []edit, compare func(a, b entry) int) []entry {
	made := make([]entry, 0, len(entries)+len(edits))
	for _, e := range edits {
		at, _ := slices.BinarySearchFunc(entries, e.entry, compare)
		made = append(made, entries[:at]...)
		if entries = entries[at:]; e.isRemoved {
			entries = entries[1:]
		} else {
			made = append(made, e.entry)
		}
	}
	return append(made, entries...)
}
