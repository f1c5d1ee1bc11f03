package live

import (
	"maps"
	"slices"
	"sync"
)

// backlog is what is to be read of the sources: what they say has changed, and what was read and
// rejected. It is the only record of pending changes.
//
//	a source tells of keys ----------------> keys ----.
//	a source tells of all --> compared by --> keys ----+--> taken to be read --> serves
//	(a Changing one)          key, unless             |                    |
//	                          most differ --> whole --+                    |
//	a source tells of all (any other) ------> whole --'<-- left, rejected --'
type backlog struct {
	mu  sync.Mutex
	all []pending // by source; may be shorter
}

// pending is what is still to be read of a source.
type pending struct {
	isStale bool // read it with the next load
	// isWhole: read all of it. isCompared: it was whole when the running comparison began.
	isWhole, isCompared bool
	// keys are the keys to read, of a [source.Changing].
	keys map[string]struct{}
	// found identifies how the source was found to differ from what serves, and is equal for equal
	// findings. isRejected: that finding has been rejected, so it is not reported again.
	found      string
	isRejected bool
}

// maxKeys is how many keys are read one by one. Reading more costs as much as reading everything,
// and the limit bounds their memory.
const maxKeys = 100_000

// pendingKeys returns a pending read of keys that may have changed.
func pendingKeys(keys ...string) pending {
	p := pending{isStale: true, keys: make(map[string]struct{}, len(keys))}
	for _, key := range keys {
		p.keys[key] = struct{}{}
	}
	return p
}

func (p *pending) merge(more pending) {
	p.isStale = p.isStale || more.isStale
	p.isWhole = p.isWhole || more.isWhole
	if more.found != "" {
		p.isRejected = more.isRejected || p.isRejected && p.found == more.found
		p.found = more.found
	}
	if p.keys == nil {
		p.keys = more.keys
	} else {
		maps.Copy(p.keys, more.keys)
	}
	if len(p.keys) > maxKeys {
		p.isWhole = true
	}
	if p.isWhole {
		p.keys = nil
	}
}

// at returns the pending read of the i-th source. b.mu must be held.
func (b *backlog) at(i int) *pending {
	for len(b.all) <= i {
		b.all = append(b.all, pending{})
	}
	return &b.all[i]
}

// add adds what is still to be read of a source.
func (b *backlog) add(i int, what pending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at(i).merge(what)
}

// takeAll returns the pending reads of all sources, and empties the backlog.
func (b *backlog) takeAll(sources int) []pending {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := make([]pending, sources)
	copy(taken, b.all)
	b.all = nil
	for i := range taken {
		taken[i].isWhole = taken[i].isWhole || taken[i].isCompared
	}
	return taken
}

// beginComparison records that a source is being compared. What is added from now on is not part of
// the comparison.
func (b *backlog) beginComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	one.isCompared, one.isWhole = one.isCompared || one.isWhole, false
}

// endComparison adds what a comparison has found. It reports whether that needs a load: it differs
// from what was rejected before, or nothing is wrong any more.
func (b *backlog) endComparison(i int, found pending) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	isKnown := one.isRejected && one.found == found.found
	isNew = (found.isStale || one.isStale) && !isKnown
	one.isCompared = false
	one.merge(found)
	return isNew
}

// dropComparison records that a comparison has failed.
func (b *backlog) dropComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	one.merge(pending{isWhole: one.isCompared})
	one.isCompared = false
}

// hasKeys reports whether keys are pending.
func (b *backlog) hasKeys() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.all, func(what pending) bool { return len(what.keys) > 0 })
}

// isStale reports whether a source has to be read.
func isStale(what pending) bool { return what.isStale }
