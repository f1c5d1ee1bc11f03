package find

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Index finds keys of the ruleset that serves. It is safe for concurrent use, and takes no memory
// before it is first used.
type Index struct {
	pause      func() // called all the way, so that requests can run
	keys       part[*keys]
	near       part[*nearKeys]
	searchTime time.Duration
}

// New returns an index. Long work calls pause again and again.
func New(pause func()) *Index {
	x := &Index{pause: pause, searchTime: 250 * time.Millisecond}
	x.keys.make, x.near.make = x.makeKeys, x.makeNear
	return x
}

// Follow tells the index of the ruleset that serves from now on. It costs what was derived in
// between. An index of a ruleset that does not share its numbers is let go, and made anew when it
// is used again.
func (x *Index) Follow(ruleset *resolver.Ruleset) {
	x.keys.follow(ruleset)
	x.near.follow(ruleset)
}

// part is a part of the index, which is made when it is first asked for.
type part[T follower[T]] struct {
	make func(*resolver.Ruleset) T
	now  atomic.Pointer[T] // nil for none; it is never changed, but replaced

	mu     sync.Mutex
	latest *resolver.Ruleset // the one to follow while the part is being made, else nil
}

// follower is what can be made of one ruleset and follow it to the next.
type follower[T any] interface {
	of() *resolver.Ruleset
	// follow returns the same for a ruleset that shares its numbers, and whether it is time to make
	// it anew.
	follow(ruleset *resolver.Ruleset) (next T, isWorn bool)
}

// get returns the part for a ruleset or one that is derived from it. ok is false while that is
// being made.
func (p *part[T]) get(ruleset *resolver.Ruleset) (t T, ok bool) {
	if now := p.now.Load(); now != nil && (*now).of().SharesNumbers(ruleset) {
		return *now, true
	}
	if p.mu.TryLock() { // nobody who asks waits
		p.begin(ruleset)
		p.mu.Unlock()
	}
	return t, false
}

// begin begins to make the part, for who has the lock.
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

// follow lets the part follow to the ruleset that serves now.
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

// takeOver follows from what is known to a ruleset, for who has the lock.
func (p *part[T]) takeOver(known T, ruleset *resolver.Ruleset) {
	if !known.of().SharesNumbers(ruleset) {
		p.now.Store(nil)
		return
	}
	next, isWorn := known.follow(ruleset)
	if p.now.Store(&next); isWorn {
		p.begin(ruleset)
	}
}

// newNumbers returns the numbers that have a key in a ruleset, and had none in the one before. The
// key of a number is always the same.
func newNumbers(before, ruleset *resolver.Ruleset) (numbers []uint32) {
	for n := range ruleset.Differing(before) {
		if before.KeyOf(n) == "" && ruleset.KeyOf(n) != "" {
			numbers = append(numbers, uint32(n))
		}
	}
	return numbers
}
