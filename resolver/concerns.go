package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// concerns is a Bloom filter of the keys that chains depend on. A change of any other key leaves
// the chains of all other rules as they are.
//
// They are the keys at and above each path on the way of a chain: a rule for one of them may be the
// longest match. The filter has one bit for the hash of each. So it has all of them, and also keys
// that share a bit with one.
type concerns struct {
	hasAll bool // as each key has its own view of a path with a malformed triplet
	bits   []uint64
	seed   uint64
}

// beginConcerns makes an empty filter. The paths of chains are added to it when they are followed.
func (c *Compiler) beginConcerns() {
	x := &concerns{seed: c.table.seed}
	c.chains.concerns = x
	n := 0
	for _, this := range c.table.internalRules.inOrder() {
		n += strings.Count(this.value.path, "/")
	}
	for i := range c.templates.len() {
		c.opts.pauseAfter(i)
		if v := c.templates.value(i); v.internal {
			n += strings.Count(v.base, "/")
		}
	}
	if c.templates != nil {
		n *= 2 // as a chain may lead through them to further paths
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
}

// addPath adds a path on the way of a chain, and all keys above it.
func (x *concerns) addPath(o *options, path string) {
	x.hasAll = x.hasAll || weburl.MalformedTriplet(path) >= 0
	var memory [128]byte
	key := text(o.appendKey(memory[:0], path[1:]))
	hash := x.seed
	for end := -1; end < len(key); {
		hash, end = hashSegment(hash, key, end+1)
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
