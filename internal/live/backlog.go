package live

import (
	"maps"
	"slices"
	"sync"
)

// backlog is what of the sources may be otherwise than the rules that serve: they have said so, or
// what they hold has been rejected. Only here it is known that a change is pending.
//
//	a source tells of keys ----------------> keys ----.
//	a source tells of all --> compared by --> keys ----+--> taken to be read --> serves
//	(a Changing one)          key, unless             |                    |
//	                          most differ --> whole --+                    |
//	a source tells of all (any other) ------> whole --'<-- left, rejected --'
type backlog struct {
	mu  sync.Mutex
	all []unread // by source; may be shorter
}

// unread is what is still to be read of a source.
type unread struct {
	isStale bool // there is something, though perhaps it is only to be found well again
	// isWhole tells that all of it has to be read. isCompared tells so as long as a comparison goes
	// on.
	isWhole, isCompared bool
	// keys are those that have to be read, of a [source.Changing].
	keys map[string]struct{}
	// found is what it was found to hold otherwise than what serves, in a form that is equal for equal
	// findings; isRejected tells that this has been rejected, so that it is not found again and again.
	found      string
	isRejected bool
}

// maxKeys is how many keys are to be read one by one. With more, reading everything costs about as
// much, and their memory is bounded.
const maxKeys = 100_000

// unreadKeys are keys that may have changed.
func unreadKeys(keys ...string) unread {
	u := unread{isStale: true, keys: make(map[string]struct{}, len(keys))}
	for _, key := range keys {
		u.keys[key] = struct{}{}
	}
	return u
}

// add adds what is to be read besides.
func (u *unread) add(more unread) {
	u.isStale = u.isStale || more.isStale
	u.isWhole = u.isWhole || more.isWhole
	if more.found != "" {
		u.isRejected = more.isRejected || u.isRejected && u.found == more.found
		u.found = more.found
	}
	if u.keys == nil {
		u.keys = more.keys
	} else {
		maps.Copy(u.keys, more.keys)
	}
	if len(u.keys) > maxKeys {
		u.isWhole = true
	}
	if u.isWhole {
		u.keys = nil
	}
}

// of returns what is to be read of a source, for who holds the lock.
func (b *backlog) of(i int) *unread {
	for len(b.all) <= i {
		b.all = append(b.all, unread{})
	}
	return &b.all[i]
}

// add adds what is still to be read of a source.
func (b *backlog) add(i int, what unread) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(i).add(what)
}

// take returns what is to be read of a number of sources, and leaves nothing.
func (b *backlog) take(sources int) []unread {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := make([]unread, sources)
	copy(taken, b.all)
	b.all = nil
	for i := range taken {
		taken[i].isWhole = taken[i].isWhole || taken[i].isCompared
	}
	return taken
}

// beginComparison takes down that a source is being compared. What is added from now on is not part
// of that.
func (b *backlog) beginComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of(i)
	one.isCompared, one.isWhole = one.isCompared || one.isWhole, false
}

// endComparison adds what a comparison has found. It reports whether there is anything to do that
// has not been rejected before: also where nothing is found any more in what was rejected.
func (b *backlog) endComparison(i int, found unread) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of(i)
	isKnown := one.isRejected && one.found == found.found
	isNew = (found.isStale || one.isStale) && !isKnown
	one.isCompared = false
	one.add(found)
	return isNew
}

// dropComparison takes down that a comparison has found out nothing.
func (b *backlog) dropComparison(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of(i)
	one.add(unread{isWhole: one.isCompared})
	one.isCompared = false
}

// hasKeys reports whether there are keys to be read.
func (b *backlog) hasKeys() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.all, func(what unread) bool { return len(what.keys) > 0 })
}

// isStale reports whether a source is to be read.
func isStale(what unread) bool { return what.isStale }
