package shortlink

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// rulesets are the live rulesets of all handlers, by configuration. A reload of Caddy's configuration
// takes the handlers that it does not change over without reading or compiling anything.
var rulesets = caddy.NewUsagePool()

// live is the ruleset that serves, and what is known of it. Requests only load the pointer; a swap
// stores another one and stops nobody.
type live struct {
	ruleset atomic.Pointer[resolver.Ruleset]

	// following holds a value while a handler follows the sources: of those that share the ruleset, one
	// at a time, so that each change is read and told once.
	following chan struct{}

	loading sync.Mutex // held by the one who loads rules; guards what follows
	digest  string
	// versions are those of the sources, as of the last time that they were read without an error.
	versions []string
	// failingSince is when the first of the loads failed that have failed since the last good one;
	// zero where that one is the last.
	failingSince time.Time
}

// Destruct has nothing to close; it is there for the usage pool.
func (*live) Destruct() error { return nil }

// candidate is a ruleset that could serve.
type candidate struct {
	ruleset  *resolver.Ruleset
	versions []string
	digest   string
}

// start makes the handler's ruleset live: that of an earlier handler of the same configuration, or
// one that is read and compiled now. A ruleset that cannot serve is an error.
func (h *Handler) start(configuration string) error {
	var loaded map[string]any // what there is to tell once Caddy has started
	value, adopted, err := rulesets.LoadOrNew(configuration, func() (caddy.Destructor, error) {
		first, err := h.compile(h.ctx, nil)
		if err != nil {
			return nil, err
		}
		l := &live{following: make(chan struct{}, 1), digest: first.digest, versions: first.versions}
		l.ruleset.Store(first.ruleset)
		h.tellSources(nil)
		loaded = h.reportLoaded(first)
		giveBack(first.ruleset)
		return l, nil
	})
	if err != nil {
		return err
	}
	h.poolKey, h.live = configuration, value.(*live)
	if adopted {
		h.logger.Debug("the rules of the configuration before serve on")
	}
	if len(h.sources) == 0 {
		h.Rules = nil // they are compiled, and nothing will read them again
	}
	h.onceStarted(func() { h.run(loaded) })
	return nil
}

// run tells of the first rules, if this handler has loaded them, and follows the sources until the
// configuration is unloaded.
func (h *Handler) run(loaded map[string]any) {
	if loaded != nil {
		h.emit(eventLoaded, loaded)
	}
	if len(h.sources) == 0 {
		return
	}
	select {
	case h.live.following <- struct{}{}:
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
	_, err := rulesets.Delete(h.poolKey)
	return err
}

// compile reads all rules, compiles them and lets them pass their expectations. Its error tells all that is
// wrong. pause, if not nil, is called all the way, to let requests run.
func (h *Handler) compile(ctx context.Context, pause func()) (*candidate, error) {
	ruleset, versions, err := h.compileRules(ctx, pause)
	if err != nil {
		return nil, readableError{err}
	}
	if err := h.checkExpectations(ruleset); err != nil {
		return nil, err
	}
	return &candidate{ruleset, versions, ruleset.Digest(pause)}, nil
}

// compileRules reads all rules and compiles them. It returns the sources' versions, too.
func (h *Handler) compileRules(ctx context.Context, pause func()) (*resolver.Ruleset, []string, error) {
	compiler, err := resolver.NewCompiler(h.options)
	if err != nil {
		return nil, nil, err
	}
	compiler.SetPause(pause)
	for _, rule := range h.Rules.from(h.source()) {
		compiler.Add(rule)
	}
	versions, inSources := h.readSources(ctx, compiler, pause)
	ruleset, inRules := compiler.Compile()
	return ruleset, versions, errors.Join(inSources, inRules)
}

// readSources adds the rules of all sources, in their order, and returns the sources' versions.
func (h *Handler) readSources(ctx context.Context, compiler *resolver.Compiler, pause func()) ([]string, error) {
	var versions []string
	var errs []error
	added := 0
	add := func(rule resolver.Rule) {
		compiler.Add(rule)
		added++
		if pause != nil && added%64 == 0 {
			pause()
		}
		if added%collectEvery == 0 {
			runtime.GC()
		}
	}
	for _, source := range h.sources {
		compiler.NextSource()
		version, err := source.Read(ctx, add)
		if err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", source, err))
		}
		versions = append(versions, version)
	}
	return versions, errors.Join(errs...)
}

// watch returns a channel that tells when the sources have changed.
func (h *Handler) watch() <-chan struct{} {
	h.live.loading.Lock()
	versions := h.live.versions
	h.live.loading.Unlock()
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // a change is waiting already, and will see this one
		}
	}
	for i, source := range h.sources {
		go source.Watch(h.ctx, versions[i], changed)
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
			h.reload()
		}
	}
}

// reload reads and compiles the rules beside those that serve, and swaps them in if all is well.
func (h *Handler) reload() {
	l := h.live
	l.loading.Lock()
	defer l.loading.Unlock()
	pause := newPacer().pause
	next, err := h.compile(h.ctx, pause)
	if h.ctx.Err() != nil {
		return // the configuration is gone, and its successor watches
	}
	if err != nil {
		h.reject(err)
		return
	}
	difference := resolver.Compare(l.ruleset.Load(), next.ruleset, namedKeys, pause)
	if difference.Broken > 0 {
		h.reject(brokenError(difference))
		return
	}
	h.swap(next, difference)
}

// swap lets a ruleset serve.
func (h *Handler) swap(next *candidate, difference resolver.Difference) {
	l := h.live
	recovered := !l.failingSince.IsZero()
	l.failingSince = time.Time{}
	l.versions = next.versions
	before := l.digest
	l.ruleset.Store(next.ruleset) // also where it answers the same: positions and warnings may be others
	l.digest = next.digest
	h.tellSources(nil)
	if next.digest == before && !recovered {
		h.reportUnchanged(difference)
	} else {
		h.reportSwapped(before, next, difference)
	}
	giveBack(next.ruleset)
}

// reject leaves the ruleset that serves where it is.
func (h *Handler) reject(err error) {
	if h.live.failingSince.IsZero() {
		h.live.failingSince = time.Now()
	}
	h.tellSources(err)
	h.reportRejected(err)
}

// tellSources tells those sources that want to know what became of what they returned last: nil stands
// for rules that serve.
func (h *Handler) tellSources(err error) {
	for _, source := range h.sources {
		if judged, ok := source.(Judged); ok {
			judged.Judge(err)
		}
	}
}

// brokenError is the error of rules that would no longer be answered.
func brokenError(d resolver.Difference) error {
	var errs []error
	for _, w := range d.Warnings {
		if w.Kind == resolver.WarnLoop || w.Kind == resolver.WarnTooManyRedirects {
			errs = append(errs, errors.New(w.String()))
		}
	}
	return fmt.Errorf("%d keys would be answered with an error that are not now, such as %q\n%w", d.Broken, d.FirstBroken, errors.Join(errs...))
}

// namedKeys is how many keys of each kind a record of a swap names.
const namedKeys = 10

// collectEvery is after how many rules what reading them has left behind is collected. By itself the collector
// would wait until that is as much as the old rules and the new ones together; and it
// has little to do, as compiled rules hold no pointers.
const collectEvery = 1 << 16

// giveBack returns the memory to the system that loading a large ruleset has left behind. It stops everybody
// for a while, so it is for the start alone; after a swap the runtime does it by and by.
func giveBack(ruleset *resolver.Ruleset) {
	const large = 8 << 20
	if ruleset.Size() >= large {
		debug.FreeOSMemory()
	}
}

// pacer lets requests run while rules are loaded: work in short turns, a rest after each. A rest is a
// sleep, since only an idle processor looks at the network at once.
type pacer struct{ turn time.Time }

const (
	turnTime = time.Millisecond
	restTime = 50 * time.Microsecond
)

func newPacer() *pacer { return &pacer{time.Now()} }

// pause rests when the turn is over.
func (p *pacer) pause() {
	if time.Since(p.turn) >= turnTime {
		time.Sleep(restTime)
		p.turn = time.Now()
	}
}

// Interface guard
var _ caddy.Destructor = (*live)(nil)
