package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
	"github.com/caddyserver/caddy/v2"
)

// rulesets are the live rulesets of all handlers, by configuration. A reload of Caddy's
// configuration takes the handlers that it does not change over without reading or compiling
// anything.
var rulesets = caddy.NewUsagePool()

// running are the handlers that have started, as keys. The pool would let those who ask wait for a
// ruleset that is just being read.
var running sync.Map

// configured are the handlers of configurations that Caddy has loaded, whether they have started or
// not, as keys.
var configured sync.Map

// tallies are what is counted, by the public names of handlers.
var tallies = caddy.NewUsagePool()

// shared is the ruleset that serves, and what is known of it. Requests only load the pointer; a
// swap stores another one and stops nobody.
type shared struct {
	serving atomic.Pointer[Loaded]
	// handler is the one that the admin endpoint asks: of those that share the ruleset, the one that
	// follows the sources or, until there is one, the last to start.
	handler atomic.Pointer[Ruleset]

	// following is held while a handler follows the sources: of those that share the ruleset, one at a
	// time, so that each change is read and told once.
	following turn

	tally    *tally
	backlog  backlog
	copies   []*storedCopy // by source
	changed  changedKeys
	pages    pagePaths
	finder   *find.Index
	locating turn // held while places of rules are looked up

	loading turn     // held by the one who loads rules; nobody else stores in what follows
	notices []notice // of the load that is under way
	// emptied is the source that an edit has left without rules, until those serve: its place in the
	// order of sources, from 1; 0 for none.
	emptied int
	last    atomic.Pointer[lastLoad]
	// wornUntil is until when a worn ruleset is left as it is, as it could not be compiled anew.
	wornUntil time.Time
}

// turn is a lock. It is a channel, as tests in a bubble of time see who waits for one and not who
// waits for a mutex, and its holder may rest.
type turn chan struct{}

// Lock waits for the lock.
func (t turn) Lock() { t <- struct{}{} }

// LockWithin is Lock for who waits no longer than ctx. It reports whether the lock is held.
func (t turn) LockWithin(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Unlock lets the next one have it.
func (t turn) Unlock() { <-t }

// Loaded is a ruleset that has been read, compiled and tested.
type Loaded struct {
	Ruleset  *resolver.Ruleset
	Warnings *lint.List
	Digest   string
	versions []string                    // of the sources
	expected []source.PlacedExpectations // of the sources
	remarks  [][]lint.Warning            // of the readers of the sources
	broken   brokenRules
	counted  *hits.RulesetCounters // its hits; nil before it serves
}

// lastLoad is what came of the last load of rules.
type lastLoad struct {
	time time.Time
	err  error // why the rules were rejected; nil if they serve
	// failingSince is when the first of the loads failed that have failed since the last good one;
	// zero where that one is the last.
	failingSince time.Time
}

// failedLoad returns what came of a load that failed, after others.
func failedLoad(err error, before ...*lastLoad) *lastLoad {
	now := time.Now()
	failed := &lastLoad{time: now, err: printable.Shorten(err), failingSince: now}
	for _, last := range before {
		if last.err != nil && last.failingSince.Before(failed.failingSince) {
			failed.failingSince = last.failingSince
		}
	}
	return failed
}

// newShared returns what is live when the first rules serve, after a load, of a handler with this
// public name.
func newShared(name string, first *Loaded, last *lastLoad) (*shared, error) {
	value, _, err := tallies.LoadOrNew(name, func() (caddy.Destructor, error) {
		return newTally(name), nil
	})
	if err != nil {
		return nil, err
	}
	l := &shared{
		following: make(turn, 1), loading: make(turn, 1), locating: make(turn, 1),
		tally: value.(*tally), finder: find.New(pace.New().Pause),
	}
	for range first.versions {
		l.copies = append(l.copies, &storedCopy{due: make(chan struct{}, 1), storing: make(turn, 1)})
	}
	first.counted = l.tally.hits.Begin(first.Ruleset)
	l.serving.Store(first)
	l.last.Store(last)
	if last.err != nil {
		for i := range first.versions {
			l.backlog.add(i, unread{isStale: true, isWhole: true})
		}
	}
	return l, nil
}

// Destruct leaves what has been counted to the other handlers of the name, or has it stored with
// the last of them, and stores what is left of copies.
func (l *shared) Destruct() error {
	if last := l.handler.Load(); last != nil {
		defer last.storeLastCopies()
	}
	last, err := tallies.Delete(l.tally.name)
	if !last {
		l.tally.hits.Retire(l.serving.Load().counted, nil)
	}
	return err
}

// Interface guard
var _ caddy.Destructor = (*shared)(nil)
