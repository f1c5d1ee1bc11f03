package find

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Index finds keys of the ruleset that serves. It is safe for concurrent use, and needs no memory
// before it is first used.
type Index struct {
	pause      func() // called all the way, so that requests can run
	keys       part[*keys]
	near       part[*nearKeys]
	searchTime time.Duration
	// sortedAtOnce is how many keys a search sorts while the index is being made.
	sortedAtOnce int
}

// New returns an index. Long work calls pause often.
func New(pause func()) *Index {
	x := &Index{pause: pause, searchTime: 250 * time.Millisecond, sortedAtOnce: 10_000}
	x.keys.make, x.near.make = x.makeKeys, x.makeNear
	return x
}

// Follow tells the index which ruleset serves now. The work depends on the number of changes. If
// the ruleset does not share rule numbers with the last one, the index is dropped, and made anew
// when it is used again.
func (x *Index) Follow(ruleset *resolver.Ruleset) {
	x.keys.follow(ruleset)
	x.near.follow(ruleset)
}

// part is a part of the index. It is made when it is first needed.
type part[T follower[T]] struct {
	make func(*resolver.Ruleset) T
	now  atomic.Pointer[T] // nil for none; it is never changed, but replaced

	mu     sync.Mutex
	latest *resolver.Ruleset // to follow once the part is made; nil if it is not being made
}

// follower is a part that is made from a ruleset and can follow it to a derived one.
type follower[T any] interface {
	source() *resolver.Ruleset
	// follow returns the part for a ruleset that shares rule numbers, and whether it is time to
	// make it anew.
	follow(ruleset *resolver.Ruleset) (next T, isWorn bool)
}

// get returns the part for a ruleset or one that is derived from it. ok is false while the part is
// being made.
func (p *part[T]) get(ruleset *resolver.Ruleset) (t T, ok bool) {
	if now := p.now.Load(); now != nil && (*now).source().SharesNumbers(ruleset) {
		return *now, true
	}
	if p.mu.TryLock() { // callers must not wait
		p.begin(ruleset)
		p.mu.Unlock()
	}
	return t, false
}

// begin starts making the part. The lock must be held.
func (p *part[T]) begin(ruleset *resolver.Ruleset) {
	if p.latest != nil {
		return
	}
	p.latest = ruleset
	go func() {
		made := p.make(ruleset)
		p.mu.Lock()
		defer p.mu.Unlock()
		latest := p.latest
		p.latest = nil
		p.takeOver(made, latest)
	}()
}

// follow makes the part follow to the ruleset that serves now.
func (p *part[T]) follow(ruleset *resolver.Ruleset) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest != nil {
		p.latest = ruleset
	}
	if now := p.now.Load(); now != nil {
		p.takeOver(*now, ruleset)
	}
}

// takeOver stores the part known after following to a ruleset. The lock must be held.
func (p *part[T]) takeOver(known T, ruleset *resolver.Ruleset) {
	if !known.source().SharesNumbers(ruleset) {
		p.now.Store(nil)
		return
	}
	next, isWorn := known.follow(ruleset)
	if p.now.Store(&next); isWorn {
		p.begin(ruleset)
	}
}

// newNumbers returns the rule numbers that have a key in a ruleset, but not in the one before. The
// key of a number never changes.
func newNumbers(before, ruleset *resolver.Ruleset) (numbers []uint32) {
	for n := range ruleset.Differing(before) {
		if before.KeyOf(n) == "" && ruleset.KeyOf(n) != "" {
			numbers = append(numbers, uint32(n))
		}
	}
	return numbers
}
