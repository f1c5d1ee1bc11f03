package redis

import (
	"fmt"
	"hash/maphash"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// seed makes digests that nobody can choose rules for, so that one is taken for another. It is one
// for all sources: what one of them has read, that of the next configuration compares with.
var seed = maphash.MakeSeed()

// digestOf returns 64 bits that tell one form of a rule from the others.
func digestOf(form []byte) uint64 { return maphash.Bytes(seed, form) }

func digestOfRule(rule *resolver.Rule) uint64 {
	var short [256]byte // which most rules are shorter than, so that nothing is allocated
	return digestOf(appendRule(short[:0], rule))
}

// digests are what is remembered of rules with a key of Redis for each: of a rule 16 bytes, and
// what a map adds to that. So a change is known from a repetition, the rules' version follows from
// a change without a pass over all of them, and a full comparison can name what differs.
//
//	hash of the name -> digest of the rule
//
// Of a million names, two are taken for one with a probability of 1 to 37 million.
type digests struct {
	of   map[uint64]uint64
	sum  uint64 // of all digests, whatever their order
	size int    // of all rules in the stored copy, about
	// removed is how many rules have been removed since everything was read.
	removed int
}

// newDigests returns digests of nothing, with room for as many as are expected.
func newDigests(expected int) *digests {
	return &digests{of: make(map[uint64]uint64, expected)}
}

// get returns the digest of the rule with a name.
func (d *digests) get(name string) (digest uint64, known bool) {
	digest, known = d.of[maphash.String(seed, name)]
	return digest, known
}

// add takes down what a key holds, unless that has been done before, or it is gone.
func (d *digests) add(e entry) (added bool) {
	at := maphash.String(seed, e.name)
	if _, again := d.of[at]; again || e.gone {
		return false
	}
	d.of[at] = e.digest
	d.sum += e.digest
	d.size += len(e.rule.Key) + len(e.rule.Value) + len("\t\"\": \"\",\n")
	return true
}

// replace takes down what a key holds now, and reports whether that is something else.
func (d *digests) replace(e entry) (changed bool) {
	at := maphash.String(seed, e.name)
	digest, known := d.of[at]
	d.sum -= digest
	if e.gone && known {
		d.removed++
	}
	if e.gone {
		delete(d.of, at)
		return known
	}
	d.sum += e.digest
	d.of[at] = e.digest
	return !known || digest != e.digest
}

// clear forgets everything.
func (d *digests) clear() { *d = *newDigests(0) }

// version is equal for equal rules, in this process.
func (d *digests) version() string { return fmt.Sprintf("%d-%016x", len(d.of), d.sum) }
