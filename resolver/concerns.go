package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// concerns tell which keys chains, and what is warned of all rules together, may depend on: those
// that may match a path that chains lead to, that lie below the end of one, that are nearly such an
// end, or that are above a rule that passes. It is a set of hashes without their values, so that it
// may also name a key that nothing depends on.
type concerns struct {
	all  bool // any key
	bits []uint64
	seed uint64
}

// Kinds of hashes.
const (
	aboveHash   = 0x9e3779b97f4a7c15 // of a key that takes a path, or what is below itself
	endHash     = 0xc2b2ae3d27d4eb4f // of the end of a chain
	remnantHash = 0x165667b19e3779f9 // of what remains of such an end without a letter
)

// findConcerns finds out which keys what has been compiled depends on.
func (c *Compiler) findConcerns(ends *nearPaths) *concerns {
	x := &concerns{seed: c.table.seed, all: c.templates != nil}
	if x.all {
		return x
	}
	n := len(ends.remnants)
	for _, this := range c.internalInOrder() {
		n += strings.Count(this.value.path, "/") + strings.Count(this.remaining, "/") + 3
	}
	for _, at := range c.passing {
		n += strings.Count(c.table.key(at), "/")
	}
	if n == 0 {
		return x
	}
	const perHash, least, most = 16, 1 << 10, 1 << 23 // bits
	size := least
	for size < perHash*n && size < most {
		size *= 2
	}
	x.bits = make([]uint64, size/64)
	for i, this := range c.internalInOrder() {
		c.opts.pauseAfter(i)
		c.addConcerns(x, this)
	}
	for i, at := range c.passing {
		c.opts.pauseAfter(i)
		x.addAbove(c.table.key(at))
	}
	for _, p := range ends.paths {
		ends.eachRemnant(p.path, func(hash uint64) { x.add(hash ^ remnantHash) })
	}
	return x
}

// addConcerns adds the keys that a rule's chain depends on.
func (c *Compiler) addConcerns(x *concerns, this *internalRule) {
	x.addAbove(c.concernedBy(x, this.value.path))
	if this.state != endUnmatched {
		return
	}
	end := c.endOf(this)
	path := c.concernedBy(x, string(appendAtSeam([]byte(end.base), end.appended)))
	x.addAbove(path)
	path = strings.TrimSuffix(path, "/")
	x.all = x.all || path == "" // as all keys are below it
	hash, _ := keyHash(x.seed, path)
	x.add(hash ^ endHash)
}

// concernedBy returns a path as keys have it.
func (c *Compiler) concernedBy(x *concerns, path string) string {
	x.all = x.all || weburl.MalformedTriplet(path) >= 0 // where each key has its own view of it
	c.key = c.opts.appendKey(c.key[:0], path[1:])
	return text(c.key)
}

// addAbove adds a path and all keys above it.
func (x *concerns) addAbove(path string) {
	hash := x.seed
	for end := -1; end < len(path); {
		hash, end = hashSegment(hash, path, end+1)
		x.add(hash ^ aboveHash)
	}
}

func (x *concerns) add(hash uint64) {
	word, bit := x.bit(hash)
	x.bits[word] |= bit
}

func (x *concerns) has(hash uint64) bool {
	word, bit := x.bit(hash)
	return x.bits[word]&bit != 0
}

func (x *concerns) bit(hash uint64) (word int, bit uint64) {
	hash = mix(hash, endHash)
	return int(hash >> 6 & uint64(len(x.bits)-1)), 1 << (hash & 63)
}

// hasKey reports whether something may depend on a key.
func (x *concerns) hasKey(key string) bool {
	switch {
	case x.all || strings.Contains(strings.ToUpper(key), anySegment):
		return true
	case len(x.bits) == 0:
		return false
	}
	hash := x.seed
	for end := -1; end < len(key); {
		hash, end = hashSegment(hash, key, end+1)
		if x.has(hash ^ endHash) {
			return true
		}
	}
	if x.has(hash ^ aboveHash) {
		return true
	}
	near := nearPaths{base: x.seed | 1}
	found := false
	near.eachRemnant(key, func(hash uint64) { found = found || x.has(hash^remnantHash) })
	return found
}
