package live

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/hits"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// Ruleset is the live rules of a handler: it reads and compiles them, makes them serve, and changes
// them.
type Ruleset struct {
	Config
	logger   *zap.Logger
	events   *caddyevents.App
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
	if rs.events, err = eventsApp(rs.Context); err != nil {
		return err
	}
	if err := registerMetrics(rs.Context); err != nil {
		return err
	}
	before := rs.predecessors()
	before.continueOutages(rs)
	var later []notice // once Caddy has started
	value, adopted, err := rulesets.LoadOrNew(rs.Identity, func() (caddy.Destructor, error) {
		first, last, err := rs.loadFirst(before)
		if err != nil {
			return nil, printable.Shorten(err)
		}
		later = rs.logLoaded(first, last)
		l, err := newShared(rs.PublicName(), first, last)
		if err == nil {
			l.totals.loaded(rs.Sources, last.err, last.time)
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
	rs.warn(rs.Serving(), rs.ConfigurationWarnings(rs.Serving().Ruleset))
	if !adopted {
		freeMemory(rs.Serving().Ruleset)
	}
	configured.Store(rs, nil)
	onceStarted(rs.events, func() {
		rs.outlive()
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

// LastError returns why the last load was rejected, or nil if it serves.
func (rs *Ruleset) LastError() error { return rs.shared.last.Load().err }

// Count counts the outcome of a request that serving has resolved.
func (rs *Ruleset) Count(result *resolver.Result, serving *Loaded) {
	rs.shared.totals.count(result, serving.counted)
}

// Hits returns the hits of the rules that serve. The error says why those of other servers cannot
// be read.
func (rs *Ruleset) Hits(ctx context.Context) (*hits.List, error) {
	return rs.shared.totals.keeper.List(ctx, rs.Serving().Ruleset)
}

// RecentHits returns the hits of the rules that serve with those of the last 30 days, like
// [hits.Keeper.Recent].
func (rs *Ruleset) RecentHits() (*hits.List, error) {
	return rs.shared.totals.keeper.Recent(rs.Serving().Ruleset)
}

// HitSummary returns the hits of all rules together, of all servers that share Caddy's storage.
// MostUsed has at most most keys, all of rules that serve.
func (rs *Ruleset) HitSummary(ctx context.Context, most int) (*hits.Summary, error) {
	all, err := rs.shared.totals.keeper.Summary(ctx)
	if err != nil {
		return nil, err
	}
	serving := rs.Serving()
	var used []hits.Used
	for _, u := range all.MostUsed {
		if len(used) == most {
			break
		}
		if rule, ok := serving.Written(u.Key); ok {
			used = append(used, hits.Used{Key: rule.Key, N: u.N})
		}
	}
	all.MostUsed = used
	return all, nil
}

// DaysOf returns the hits of a key's rule on each of the last [hits.DaysKept] days, oldest first,
// and its total.
func (rs *Ruleset) DaysOf(ctx context.Context, key string) ([]hits.Day, hits.Count, error) {
	rule, ok := rs.Serving().Written(key)
	if !ok {
		return nil, hits.Count{}, refusal.Errorf(refusal.NoRule, "there is no rule for the key %q", key)
	}
	canonical := resolver.CanonicalKey(rule.Key, rs.Options.FoldCase)
	return rs.shared.totals.keeper.DaysOf(ctx, canonical)
}

// Search finds rules that serve, like [find.Index.Search].
func (rs *Ruleset) Search(ctx context.Context, query find.Query) find.Found {
	return rs.shared.finder.Search(ctx, rs.Serving().Ruleset, query)
}

// Suggest returns the rules that a path without a rule may have meant, like
// [find.Index.Suggest].
func (rs *Ruleset) Suggest(path string, most int) []resolver.Rule {
	return rs.shared.finder.Suggest(rs.Serving().Listed(), path, most)
}

// run reports the first rules, if this handler has loaded them, and follows the sources and the
// clock until the configuration is unloaded.
func (rs *Ruleset) run(later []notice) {
	go rs.followClock()
	rs.tell(rs.Serving(), later)
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
	changes := make(chan struct{}, 1)
	tell := func() { raise(changes) } // a signal that is waiting covers this change
	for i, from := range rs.Sources {
		if key := copyKeyOf(from); key != "" {
			go copying{rs, i, key}.run()
		}
		if changing, byKey := source.ByKey(from); byKey {
			w := &keysWatch{rs: rs, from: changing, i: i, tell: tell, doubts: make(chan struct{}, 1)}
			go w.run()
			continue
		}
		go from.Watch(rs.Context, versions[i], func() {
			rs.shared.backlog.add(i, pending{isStale: true})
			tell()
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
				rs.loadStale(nil)
				return nil
			})
			if rs.LastError() != nil && rs.shared.backlog.hasKeys() {
				wait(rs.Context, rejectedShare*time.Since(begun))
			}
		}
	}
}
