package pending

import (
	"maps"
	"slices"
	"sync"
)

// Backlog is what is to be read of the sources: what they say has changed, and what was read and
// rejected. It is the only record of pending changes.
//
//	a source tells of keys ----------------> keys ----.
//	a source tells of all --> compared by --> keys ----+--> taken to be read --> serves
//	(a Changing one)          key, unless             |                    |
//	                          most differ --> whole --+                    |
//	a source tells of all (any other) ------> whole --'<-- left, rejected --'
type Backlog struct {
	mu  sync.Mutex
	all []Reading // by source; may be shorter
}

// Reading is what is still to be read of a source.
type Reading struct {
	IsStale    bool // read it with the next load
	IsWhole    bool // read all of it
	isCompared bool // it was whole when the running comparison began
	// Keys are the keys to read, of a [source.Changing].
	Keys map[string]struct{}
	// Found identifies how the source was found to differ from what serves, and is equal for equal
	// findings. IsRejected: that finding has been rejected, so it is not reported again.
	Found      string
	IsRejected bool
}

// Whole returns a pending read of all of a source.
func Whole() Reading { return Reading{IsStale: true, IsWhole: true} }

// MaxKeys is how many keys are read one by one. Reading more costs as much as reading everything,
// and the limit bounds their memory.
const MaxKeys = 100_000

// Keys returns a pending read of keys that may have changed.
func Keys(keys ...string) Reading {
	p := Reading{IsStale: true, Keys: make(map[string]struct{}, len(keys))}
	for _, key := range keys {
		p.Keys[key] = struct{}{}
	}
	return p
}

func (p *Reading) merge(more Reading) {
	p.IsStale = p.IsStale || more.IsStale
	p.IsWhole = p.IsWhole || more.IsWhole
	if more.Found != "" {
		p.IsRejected = more.IsRejected || p.IsRejected && p.Found == more.Found
		p.Found = more.Found
	}
	if p.Keys == nil {
		p.Keys = more.Keys
	} else {
		maps.Copy(p.Keys, more.Keys)
	}
	if len(p.Keys) > MaxKeys {
		p.IsWhole = true
	}
	if p.IsWhole {
		p.Keys = nil
	}
}

// at returns the pending read of the i-th source. b.mu must be held.
func (b *Backlog) at(i int) *Reading {
	for len(b.all) <= i {
		b.all = append(b.all, Reading{})
	}
	return &b.all[i]
}

// Add adds what is still to be read of a source.
func (b *Backlog) Add(i int, what Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at(i).merge(what)
}

// TakeAll returns the pending reads of all sources, and empties the backlog.
func (b *Backlog) TakeAll(sources int) []Reading {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := make([]Reading, sources)
	copy(taken, b.all)
	b.all = nil
	for i := range taken {
		taken[i].IsWhole = taken[i].IsWhole || taken[i].isCompared
	}
	return taken
}

// beginComparison records that a source is being compared. What is added from now on is not part of
// the comparison.
func (b *Backlog) beginComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	one.isCompared, one.IsWhole = one.isCompared || one.IsWhole, false
}

// endComparison adds what a comparison has found. It reports whether that needs a load: it differs
// from what was rejected before, or nothing is wrong any more.
func (b *Backlog) endComparison(i int, found Reading) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	isKnown := one.IsRejected && one.Found == found.Found
	isNew = (found.IsStale || one.IsStale) && !isKnown
	one.isCompared = false
	one.merge(found)
	return isNew
}

// dropComparison records that a comparison has failed.
func (b *Backlog) dropComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.at(i)
	one.merge(Reading{IsWhole: one.isCompared})
	one.isCompared = false
}

// HasKeys reports whether keys are pending.
func (b *Backlog) HasKeys() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.all, func(what Reading) bool { return len(what.Keys) > 0 })
}

// HasStale reports whether a source has to be read.
func HasStale(all []Reading) bool {
	return slices.ContainsFunc(all, func(what Reading) bool { return what.IsStale })
}
