package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/copies"
	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/reverse"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
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
	following turn.Lock

	totals   *totals
	backlog  pending.Backlog
	copies   []*copies.Copy // by source
	pages    pagePaths
	finder   *find.Index
	locating turn.Lock // held while rules are located

	// timing is held by the handler that follows the clock. It waits for no load, unlike following.
	timing turn.Lock
	// swapping is held while what serves is replaced. Unlike a load, it waits for nothing.
	swapping turn.Lock
	// windowed holds a value when there may be windows to follow.
	windowed turn.Signal

	loading turn.Lock       // held during a load; guards the fields below
	notices []report.Notice // of the load in progress
	// emptied is the source that an edit has left without rules, until those serve: its index plus
	// 1, or 0 for none.
	emptied int
	last    atomic.Pointer[LastLoad]
	// wornUntil is until when a worn ruleset is left as it is, because recompiling it failed.
	wornUntil time.Time
}

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
	ahead    *ahead.Look
	finder   *find.Index           // nil before it serves
	counted  *hits.RulesetCounters // its hits; nil before it serves
}

// Search finds rules, like [find.Index.Search].
func (l *Loaded) Search(ctx context.Context, query find.Query) find.Found {
	return l.finder.Search(ctx, l.Ruleset, query)
}

// Suggest returns the rules that a path without a rule may have meant, like [find.Index.Suggest].
func (l *Loaded) Suggest(path string, most int) []resolver.Rule {
	return l.finder.Suggest(l.Listed(), path, most)
}

// Listed returns the keys that may be suggested to anybody, with their hits.
func (l *Loaded) Listed() find.Listed {
	return find.Listed{Ruleset: l.Ruleset, Hits: l.counted.Hits}
}

// LastLoad is the result of the last load of rules.
type LastLoad struct {
	Time time.Time
	Err  error // why the rules were rejected; nil if they serve
	// FailingSince is when the first load failed since the last good one; zero if the last one was
	// good.
	FailingSince time.Time
	// Loaded is when the last good load was, this one or one before it.
	Loaded time.Time
}

// goodLoad returns the result of a load whose rules serve.
func goodLoad(now time.Time) *LastLoad { return &LastLoad{Time: now, Loaded: now} }

// failedLoad returns the result of a load that failed after others.
func failedLoad(err error, before ...*LastLoad) *LastLoad {
	now := time.Now()
	failed := &LastLoad{Time: now, Err: printable.Shorten(err), FailingSince: now}
	for _, last := range before {
		if last.Loaded.After(failed.Loaded) {
			failed.Loaded = last.Loaded
		}
		if last.Err != nil && last.FailingSince.Before(failed.FailingSince) {
			failed.FailingSince = last.FailingSince
		}
	}
	return failed
}

// newShared returns the shared state of the first rules of a handler with this public name.
func newShared(name string, first *Loaded, last *LastLoad) (*shared, error) {
	value, _, err := totalsByName.LoadOrNew(name, func() (caddy.Destructor, error) {
		return newTotals(name), nil
	})
	if err != nil {
		return nil, err
	}
	s := &shared{
		following: turn.NewLock(), loading: turn.NewLock(), locating: turn.NewLock(),
		timing: turn.NewLock(), swapping: turn.NewLock(), windowed: turn.NewSignal(),
		totals: value.(*totals), finder: find.New(pace.New().Pause),
	}
	for range first.versions {
		s.copies = append(s.copies, copies.New())
	}
	first.finder, first.counted = s.finder, s.totals.hits.Begin(first.Ruleset)
	s.serving.Store(first)
	s.last.Store(last)
	if last.Err != nil {
		for i := range first.versions {
			s.backlog.Add(i, pending.Whole())
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
	last, err := totalsByName.Delete(s.totals.Name)
	if !last {
		s.totals.hits.Retire(s.serving.Load().counted, nil)
	}
	return err
}

// Interface guard
var _ caddy.Destructor = (*shared)(nil)
