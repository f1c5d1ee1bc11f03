package shortlink

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// rulesets are the live rulesets of all handlers, by configuration. A reload of Caddy's configuration
// takes the handlers that it does not change over without reading or compiling anything.
var rulesets = caddy.NewUsagePool()

// running are the handlers that have started, as keys. The pool would let those who ask wait for a
// ruleset that is just being read.
var running sync.Map

// tallies are what is counted, by the public names of handlers.
var tallies = caddy.NewUsagePool()

// live is the ruleset that serves, and what is known of it. Requests only load the pointer; a swap
// stores another one and stops nobody.
type live struct {
	serving atomic.Pointer[loaded]
	// handler is the one that the admin endpoint asks: of those that share the ruleset, the one that follows the sources or, until
	// there is one, the last to start.
	handler atomic.Pointer[Handler]

	// following holds a value while a handler follows the sources: of those that share the ruleset, one
	// at a time, so that each change is read and told once.
	following chan struct{}

	tally *tally

	loading sync.Mutex // held by the one who loads rules; nobody else stores in what follows
	last    atomic.Pointer[lastLoad]
}

// loaded is a ruleset that has been read, compiled and tested.
type loaded struct {
	ruleset  *resolver.Ruleset
	digest   string
	versions []string                    // CountOf the sources
	expected []source.PlacedExpectations // CountOf the sources
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
	failed := &lastLoad{time: now, err: readable(err), failingSince: now}
	for _, last := range before {
		if last.err != nil && last.failingSince.Before(failed.failingSince) {
			failed.failingSince = last.failingSince
		}
	}
	return failed
}

// newLive returns what is live when the first rules serve, after a load, of a handler with this public
// name.
func newLive(name string, first *loaded, last *lastLoad) (*live, error) {
	value, _, err := tallies.LoadOrNew(name, func() (caddy.Destructor, error) { return newTally(name), nil })
	if err != nil {
		return nil, err
	}
	l := &live{following: make(chan struct{}, 1), tally: value.(*tally)}
	first.counted = l.tally.hits.Begin(first.ruleset)
	l.serving.Store(first)
	l.last.Store(last)
	return l, nil
}

// Destruct leaves what has been counted to the other handlers of the name, or has it stored with the
// last of them.
func (l *live) Destruct() error {
	last, err := tallies.Delete(l.tally.name)
	if !last {
		l.tally.hits.Retire(l.serving.Load().counted, nil)
	}
	return err
}

// start makes the handler's ruleset live: that of an earlier handler of the same configuration, or
// one that is read and compiled now. A ruleset that cannot serve is an error.
func (h *Handler) start(configuration string) error {
	before := h.predecessors()
	before.continueOutages(h)
	var report func() // what there is to tell once Caddy has started
	value, adopted, err := rulesets.LoadOrNew(configuration, func() (caddy.Destructor, error) {
		first, last, err := h.loadFirst(before)
		if err != nil {
			return nil, readable(err)
		}
		h.tellSources(last.err)
		report = h.reportLoaded(first, last)
		l, err := newLive(h.publicName(), first, last)
		if err == nil {
			l.tally.loaded(h.sources, last.err, last.time)
		}
		return l, err
	})
	if err != nil {
		return err
	}
	h.poolKey, h.live = configuration, value.(*live)
	if adopted {
		h.logger.Debug("the rules of the configuration before serve on")
		if err := before.check(h.live.serving.Load().ruleset); err != nil {
			return err // another site's handler has this configuration, too
		}
	}
	if len(h.sources) == 0 {
		h.Rules = nil // they are compiled, and nothing will read them again
	}
	if !adopted {
		giveBack(h.live.serving.Load().ruleset)
	}
	h.onceStarted(func() {
		h.live.handler.Store(h)
		running.Store(h, nil)
		h.live.tally.keeper.KeepIn(h.ctx, h.ctx.Storage(), h.logger)
		go h.run(report)
	})
	return nil
}

// run tells of the first rules, if this handler has loaded them, and follows the sources until the
// configuration is unloaded.
func (h *Handler) run(report func()) {
	if report != nil {
		report()
	}
	if len(h.sources) == 0 {
		return
	}
	select {
	case h.live.following <- struct{}{}:
		h.live.handler.Store(h)
		h.follow(h.watch())
		<-h.live.following
	case <-h.ctx.Done():
	}
}

// stop lets go of the ruleset.
func (h *Handler) stop() error {
	if h.poolKey == "" {
		return nil
	}
	running.Delete(h)
	_, err := rulesets.Delete(h.poolKey)
	return err
}

// watch returns a channel that tells when the sources have changed.
func (h *Handler) watch() <-chan struct{} {
	versions := h.live.serving.Load().versions
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // a change is waiting already, and will see this one
		}
	}
	for i, from := range h.sources {
		go from.Watch(h.ctx, versions[i], changed)
	}
	return changes
}

// follow loads the rules anew after each change.
func (h *Handler) follow(changes <-chan struct{}) {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-changes:
			h.reload(h.ctx)
		}
	}
}

// Interface guard
var _ caddy.Destructor = (*live)(nil)
