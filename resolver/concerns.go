package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// concerns is a Bloom filter of the keys that chains depend on. A change of any other key leaves
// the chains of all other rules as they are.
//
// These are the keys at and above each path that an internal redirect leads to: a rule for one of
// them may be the longest match. The filter has one bit for the hash of each. It misses none of
// them, and has others that share a bit with one.
type concerns struct {
	hasAll bool // what chains through templates depend on is not looked for
	bits   []uint64
	seed   uint64
}

// findConcerns finds out which keys the chains depend on.
func (c *Compiler) findConcerns() {
	x := &concerns{seed: c.table.seed, hasAll: c.templates != nil}
	c.chains.concerns = x
	if x.hasAll {
		return
	}
	n := 0
	for _, this := range c.table.internalRules.inOrder() {
		n += strings.Count(this.value.path, "/")
	}
	if n == 0 {
		return
	}
	const perHash, least, most = 16, 1 << 10, 1 << 23 // bits
	size := least
	for size < perHash*n && size < most {
		size *= 2
	}
	x.bits = make([]uint64, size/64)
	for i, this := range c.table.internalRules.inOrder() {
		c.opts.pauseAfter(i)
		// Each key has its own view of a path with a malformed triplet.
		x.hasAll = x.hasAll || weburl.MalformedTriplet(this.value.path) >= 0
		c.key = c.opts.appendKey(c.key[:0], this.value.path[1:])
		x.addAbove(text(c.key))
	}
}

// addAbove adds a path and all keys above it.
func (x *concerns) addAbove(path string) {
	hash := x.seed
	for end := -1; end < len(path); {
		hash, end = hashSegment(hash, path, end+1)
		word, bit := x.bit(hash)
		x.bits[word] |= bit
	}
}

func (x *concerns) bit(hash uint64) (word int, bit uint64) {
	hash = mix(hash, 0x9e3779b97f4a7c15)
	return int(hash >> 6 & uint64(len(x.bits)-1)), 1 << (hash & 63)
}

// hasKey reports whether a chain may depend on a key.
func (x *concerns) hasKey(key string) bool {
	if x.hasAll || len(x.bits) == 0 {
		return x.hasAll
	}
	hash, _ := keyHash(x.seed, key)
	word, bit := x.bit(hash)
	return x.bits[word]&bit != 0
}
