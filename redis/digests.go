package redis

import (
	"fmt"
	"hash/maphash"
)

// digests are what is remembered of rules with a key of Redis for each: of a rule 16 bytes, and
// what a map adds to that. So a change is known from a repetition, the rules' version follows from
// a change without a pass over all of them, and a full comparison can name what differs.
//
//	hash of the name (this process's own) -> digest of the rule
//
// Names and rules are told apart by 64 bits: of a million names, two are taken for one with a
// probability of 1 to 37 million, and nobody can choose such names without knowing the seed.
type digests struct {
	seed maphash.Seed
	of   map[uint64]uint64
	sum  uint64 // of all digests, whatever their order
	size int    // of all rules in the stored copy, about
}

// newDigests returns digests of nothing, with room for as many as are expected.
func newDigests(seed maphash.Seed, expected int) *digests {
	return &digests{seed: seed, of: make(map[uint64]uint64, expected)}
}

// get returns the digest of the rule with a name.
func (d *digests) get(name string) (digest uint64, known bool) {
	digest, known = d.of[maphash.String(d.seed, name)]
	return digest, known
}

// add takes down what a key holds, unless that has been done before, or it is gone.
func (d *digests) add(e entry) (added bool) {
	if _, again := d.get(e.name); again || e.gone {
		return false
	}
	d.size += len(e.rule.Key) + len(e.rule.Value) + len("\t\"\": \"\",\n")
	return d.replace(e)
}

// replace takes down what a key holds now, and reports whether that is something else.
func (d *digests) replace(e entry) (changed bool) {
	at := maphash.String(d.seed, e.name)
	digest, known := d.of[at]
	d.sum -= digest
	if e.gone {
		delete(d.of, at)
		return known
	}
	d.sum += e.digest
	d.of[at] = e.digest
	return !known || digest != e.digest
}

// clear forgets everything.
func (d *digests) clear() { *d = *newDigests(d.seed, 0) }

// version is equal for equal rules, also of another process, as the stored copy outlives it.
func (d *digests) version() string { return fmt.Sprintf("%d-%016x", len(d.of), d.sum) }
