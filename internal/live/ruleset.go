package live

import (
	"context"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/pending"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/turn"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Ruleset is the live rules of a handler: it reads and compiles them, makes them serve, and changes
// them.
type Ruleset struct {
	Config
	logger   *zap.Logger
	reporter *report.Reporter
	shared   *shared // nil before it has started
	compiled *Loaded // by CompileRules
	// lasting ends some time after the configuration; nil before that has started.
	lasting context.Context
}

// New returns a ruleset that is not loaded yet.
func New(config Config) *Ruleset { return &Ruleset{Config: config} }

// Start makes the ruleset live: it takes over that of an earlier handler with the same
// configuration, or reads and compiles its own. It returns an error if the rules cannot serve.
func (rs *Ruleset) Start() (err error) {
	rs.logger = rs.Context.Logger()
	if rs.Name == "" {
		rs.logger = rs.logger.With(zap.Stringer("site", rs.Site))
	}
	events, err := report.EventsApp(rs.Context)
	if err != nil {
		return err
	}
	rs.reporter = newReporter(rs, events)
	if err := collector.Register(rs.Context); err != nil {
		return err
	}
	before := predecessorsOf(rs)
	before.continueOutages(rs)
	var later []report.Notice // once Caddy has started
	value, adopted, err := rulesets.LoadOrNew(rs.Identity, func() (caddy.Destructor, error) {
		first, last, err := rs.loadFirst(before)
		if err != nil {
			return nil, printable.Shorten(err)
		}
		later = rs.logLoaded(first, last)
		l, err := newShared(rs.PublicName(), first, last)
		if err == nil {
			l.totals.Loaded(rs.Sources, last.Err, last.Time)
		}
		return l, err
	})
	if err != nil {
		return err
	}
	rs.shared = value.(*shared)
	if adopted {
		rs.logger.Debug("the rules of the configuration before serve on")
		if err := before.check(&rs.Config, rs.Serving()); err != nil {
			return err // another site's handler has the same configuration
		}
	}
	if len(rs.Sources) == 0 {
		rs.Rules = nil // they are compiled and not needed again
	}
	serving := rs.Serving()
	rs.reporter.Warn(serving.versions, rs.ConfigurationWarnings(serving.Ruleset))
	if !adopted {
		freeMemory(serving.Ruleset)
	}
	configured.Store(rs, nil)
	report.OnceStarted(events, func() {
		rs.lasting = outliving(rs.Context)
		rs.shared.handler.Store(rs)
		running.Store(rs, nil)
		rs.shared.totals.keeper.KeepIn(rs.Context, rs.Context.Storage(), rs.logger)
		rs.shared.totals.history.KeepIn(rs.Context, rs.Context.Storage(), rs.logger, rs.KeptChanges)
		go rs.run(later)
	})
	return nil
}

// Serving returns what serves now. A request keeps it for as long as it runs.
func (rs *Ruleset) Serving() *Loaded { return rs.shared.serving.Load() }

// LastLoad returns the result of the last load of rules.
func (rs *Ruleset) LastLoad() *LastLoad { return rs.shared.last.Load() }

// TimeOfRules returns how old the rules of a source are that serve; zero if that is not known.
func (rs *Ruleset) TimeOfRules(from source.Source) time.Time {
	return rs.shared.totals.LastSuccess(from)
}

// Count counts the outcome of a request that serving has resolved.
func (rs *Ruleset) Count(result *resolver.Result, serving *Loaded) {
	rs.shared.totals.count(result, serving.counted)
}

// Hits keeps the hits of the handlers of this name.
func (rs *Ruleset) Hits() *hits.Keeper { return rs.shared.totals.keeper }

// newReporter returns what tells notices of a ruleset.
func newReporter(rs *Ruleset, events *caddyevents.App) *report.Reporter {
	return &report.Reporter{Name: rs.Name, PublicName: rs.PublicName(), Context: rs.Context,
		Logger: rs.logger, Events: events, Sources: rs.Sources}
}

// logLoaded logs the first ruleset of a configuration. It returns the notices to tell once Caddy
// has started; they do not retain a ruleset that will be replaced.
func (rs *Ruleset) logLoaded(first *Loaded, last *LastLoad) (later []report.Notice) {
	n, broken := rs.BrokenIn(first)
	rs.reporter.Broken(broken, n-len(broken))
	warnings := slices.DeleteFunc(slices.Clone(first.Warnings.Warnings()), lint.Warning.IsBroken)
	now, event := report.Loaded(rs.Name, first.Digest, first.Ruleset.Len(), warnings)
	rs.reporter.Tell(first.versions, now)
	later = append(later, event)
	if last.Err != nil && !first.IsIncomplete() { // else the log has it already
		later = append(later, report.Rejected(rs.Name, first.Digest, last.FailingSince, last.Err))
	}
	return later
}

// run reports the first rules, if this handler has loaded them, and follows the sources and the
// clock until the configuration is unloaded.
func (rs *Ruleset) run(later []report.Notice) {
	go rs.followClock()
	rs.reporter.Tell(rs.Serving().versions, later...)
	if len(rs.Sources) == 0 {
		rs.adoptPages()
		return
	}
	if rs.shared.following.LockWithin(rs.Context) {
		rs.shared.handler.Store(rs)
		rs.adoptPages()
		rs.follow(rs.watch())
		rs.shared.following.Unlock()
	}
}

// Stop releases the ruleset.
func (rs *Ruleset) Stop() error {
	if rs == nil || rs.shared == nil {
		return nil
	}
	configured.Delete(rs)
	running.Delete(rs)
	_, err := rulesets.Delete(rs.Identity)
	return err
}

// watch returns a channel that signals that sources have changed.
func (rs *Ruleset) watch() <-chan struct{} {
	versions := rs.Serving().versions
	changes := turn.NewSignal()
	for i, from := range rs.Sources {
		if w, isWanted := rs.copyWriter(i); isWanted {
			go w.Run(rs.Context)
		}
		if changing, byKey := source.ByKey(from); byKey {
			f := &pending.Follower{
				Backlog: &rs.shared.backlog, From: changing, Index: i, Tell: changes.Raise,
				Alone:   func(do func()) { _ = rs.alone(func() error { do(); return nil }) },
				Serving: func() *schedule.Rules { return &rs.Serving().Rules },
			}
			go f.Run(rs.Context)
			continue
		}
		go from.Watch(rs.Context, versions[i], func() {
			rs.shared.backlog.Add(i, pending.Reading{IsStale: true})
			changes.Raise()
		})
	}
	return changes
}

// rejectedShare is how many times the duration of a rejected load of keys passes before the next
// one.
const rejectedShare = 2

// follow loads what has changed after each signal. While keys are rejected and read again each
// time, this takes at most a third of the time.
func (rs *Ruleset) follow(changes <-chan struct{}) {
	for {
		select {
		case <-rs.Context.Done():
			return
		case <-changes:
			begun := time.Now()
			_ = rs.alone(func() error { // errors are reported
				rs.loadStale(author{})
				return nil
			})
			if rs.LastLoad().Err != nil && rs.shared.backlog.HasKeys() {
				turn.Wait(rs.Context, rejectedShare*time.Since(begun))
			}
		}
	}
}
