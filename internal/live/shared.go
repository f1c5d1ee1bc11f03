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
	"github.com/caddy-shortlink/shortlink/internal/reverse"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
	"github.com/caddyserver/caddy/v2"
)

// rulesets are the live rulesets of all handlers, by configuration. Handlers that a reload of
// Caddy's configuration does not change keep theirs without reading or compiling.
var rulesets = caddy.NewUsagePool()

// running are the handlers that have started, as keys. Asking the pool instead would wait for a
// ruleset that is being read.
var running sync.Map

// configured are the handlers of loaded configurations, started or not, as keys.
var configured sync.Map

// totalsByName are the [totals] of all handlers, by public name.
var totalsByName = caddy.NewUsagePool()

// shared is the ruleset that serves, and its state. Requests only load the pointer; a swap replaces
// it and blocks nobody.
type shared struct {
	serving atomic.Pointer[Loaded]
	// handler is the one that the admin endpoint asks among those that share the ruleset: the one
	// that follows the sources or, until there is one, the last to start.
	handler atomic.Pointer[Ruleset]

	// following is held by the handler that follows the sources: one of those that share the
	// ruleset, so that each change is read and reported once.
	following turn

	totals   *totals
	backlog  backlog
	copies   []*storedCopy // by source
	pages    pagePaths
	finder   *find.Index
	locating turn // held while rules are located

	// timing is held by the handler that follows the clock. It waits for no load, unlike following.
	timing turn
	// swapping is held while what serves is replaced. Unlike a load, it waits for nothing.
	swapping turn
	// windowed holds a value when there may be windows to follow.
	windowed chan struct{}

	loading turn     // held during a load; guards the fields below
	notices []notice // of the load in progress
	// emptied is the source that an edit has left without rules, until those serve: its index plus
	// 1, or 0 for none.
	emptied int
	last    atomic.Pointer[lastLoad]
	// wornUntil is until when a worn ruleset is left as it is, because recompiling it failed.
	wornUntil time.Time
}

// turn is a lock. It is a channel because tests with synctest see a goroutine that waits for a
// channel, but not one that waits for a mutex.
type turn chan struct{}

// Lock waits for the lock.
func (t turn) Lock() { t <- struct{}{} }

// LockWithin is Lock for at most as long as ctx lasts. It reports whether the lock is held.
func (t turn) LockWithin(ctx context.Context) bool {
	select {
	case t <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Unlock releases the lock.
func (t turn) Unlock() { <-t }

// Loaded is a ruleset that has been read, compiled and checked.
type Loaded struct {
	schedule.Rules
	// Reverse tells which key leads to a page; nil where nobody asks.
	Reverse  *reverse.Index
	Warnings *lint.List
	Digest   string
	versions []string                    // of the sources
	expected []source.PlacedExpectations // of the sources
	remarks  [][]lint.Warning            // of the readers of the sources
	broken   brokenRules
	ahead    *ahead
	counted  *hits.RulesetCounters // its hits; nil before it serves
}

// Listed returns the keys that may be suggested to anybody, with their hits.
func (l *Loaded) Listed() find.Listed {
	return find.Listed{Ruleset: l.Ruleset, Hits: l.counted.Hits}
}

// lastLoad is the result of the last load of rules.
type lastLoad struct {
	time time.Time
	err  error // why the rules were rejected; nil if they serve
	// failingSince is when the first load failed since the last good one; zero if the last one was
	// good.
	failingSince time.Time
	// loaded is when the last good load was, this one or one before it.
	loaded time.Time
}

// goodLoad returns the result of a load whose rules serve.
func goodLoad(now time.Time) *lastLoad { return &lastLoad{time: now, loaded: now} }

// failedLoad returns the result of a load that failed after others.
func failedLoad(err error, before ...*lastLoad) *lastLoad {
	now := time.Now()
	failed := &lastLoad{time: now, err: printable.Shorten(err), failingSince: now}
	for _, last := range before {
		if last.loaded.After(failed.loaded) {
			failed.loaded = last.loaded
		}
		if last.err != nil && last.failingSince.Before(failed.failingSince) {
			failed.failingSince = last.failingSince
		}
	}
	return failed
}

// newShared returns the shared state of the first rules of a handler with this public name.
func newShared(name string, first *Loaded, last *lastLoad) (*shared, error) {
	value, _, err := totalsByName.LoadOrNew(name, func() (caddy.Destructor, error) {
		return newTotals(name), nil
	})
	if err != nil {
		return nil, err
	}
	s := &shared{
		following: make(turn, 1), loading: make(turn, 1), locating: make(turn, 1),
		timing: make(turn, 1), swapping: make(turn, 1), windowed: make(chan struct{}, 1),
		totals: value.(*totals), finder: find.New(pace.New().Pause),
	}
	for range first.versions {
		s.copies = append(s.copies, &storedCopy{due: make(chan struct{}, 1), storing: make(turn, 1)})
	}
	first.counted = s.totals.hits.Begin(first.Ruleset)
	s.serving.Store(first)
	s.last.Store(last)
	if last.err != nil {
		for i := range first.versions {
			s.backlog.add(i, pending{isStale: true, isWhole: true})
		}
	}
	return s, nil
}

// Destruct passes the hits to the other handlers of the name, or stores them if this was the last
// one, and stores the remaining copies.
func (s *shared) Destruct() error {
	if last := s.handler.Load(); last != nil {
		defer last.storeLastCopies()
	}
	last, err := totalsByName.Delete(s.totals.name)
	if !last {
		s.totals.hits.Retire(s.serving.Load().counted, nil)
	}
	return err
}

// Interface guard
var _ caddy.Destructor = (*shared)(nil)
