package redis

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// recheck is how often to check for a failed Read that nothing else would repeat, and how often
	// to ask Sentinels which server is the master.
	recheck = 500 * time.Millisecond
	// unheard is how often rules are compared although the server pushes changes: it does not push
	// SWAPDB, keyspace events do not include FLUSHALL, and they can be turned off.
	unheard = time.Minute
	// unheardShare is how many times the duration of a reading this pause is at least: comparing
	// very many rules for a whole fleet must not keep the server busy.
	unheardShare = 100
	// grace is how long the server may be gone before the handler tries to read rules and rejects
	// them. A server that restarts is back sooner.
	grace = 2 * time.Second
	// pollShare is how many times the duration of a reading the next pause is.
	pollShare = 2
)

// Watch calls changed when the rules may have changed; see [source.Source]. It listens to the
// server, or polls it if it does not push. After each loss of the connection it compares all rules
// with those that were read last. While the server cannot be reached it retries, with growing
// pauses.
func (s *Source) Watch(ctx context.Context, version string, changed func()) {
	s.content.begin(version)
	s.watch(ctx, func(...string) { changed() })
}

// WatchKeys is Watch by key; see [source.Changing].
func (s *Source) WatchKeys(ctx context.Context, changed func(keys ...string)) {
	s.watch(ctx, changed)
}

func (s *Source) watch(ctx context.Context, changed func(keys ...string)) {
	w := &watch{source: s, changed: changed}
	for ctx.Err() == nil {
		err := w.session(ctx)
		if ctx.Err() != nil {
			return
		}
		w.lose(err)
		w.rest(ctx)
	}
}

// rest waits until the next try: for a pause, or until another client has reached the server.
func (w *watch) rest(ctx context.Context) {
	w.source.answered.drop()
	waitFor(ctx, w.backoff.next(), w.source.answered)
}

// watch is the state of Watch across connections.
type watch struct {
	source  *Source
	changed func(keys ...string)
	backoff backoff
	lost    time.Time // when the server was lost; zero while it is reachable
	told    bool      // the handler has been told so
	due     time.Time // when to compare without a push
}

// session watches the rules until the connection is lost, and returns why.
func (w *watch) session(ctx context.Context) error {
	// Listen first, so that no change in between goes unnoticed.
	l, err := w.source.listenToAll(ctx)
	if err != nil {
		return err
	}
	listens, end := context.WithCancelCause(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { end(l.run(ctx)) })
	defer listening.Wait()
	defer l.close()
	took, err := w.compare(ctx)
	if err != nil {
		return err
	}
	w.find(l)
	return w.follow(listens, l, took)
}

// follow waits for changes until ctx or a listener ends, and returns why. took is the duration of
// the last comparison.
func (w *watch) follow(ctx context.Context, l listeners, took time.Duration) error {
	timer := time.NewTimer(w.pause(l, took))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.source.content.heard():
			wait(ctx, w.source.content.burst())
			w.source.content.heard().drop()
			w.source.content.tell(w.changed)
		case <-timer.C:
			took, err := w.look(ctx, l)
			if err != nil {
				return err
			}
			timer.Reset(w.pause(l, took))
		}
	}
}

// pause returns when to look next, after a look of this duration.
func (w *watch) pause(l listeners, took time.Duration) time.Duration {
	if w.polls(l) {
		return max(w.source.every, pollShare*took)
	}
	return max(recheck, pollShare*took)
}

// polls reports whether the rules are polled.
func (w *watch) polls(l listeners) bool {
	return !l.pushes() && w.source.every > 0
}

// look checks, without a push, whether there is anything to do. It returns how long reading the
// rules took, or 0 if they were not read.
func (w *watch) look(ctx context.Context, l listeners) (took time.Duration, err error) {
	if w.source.Cluster {
		nodes, err := w.source.content.nodes(ctx)
		if err := cmp.Or(err, l.check(nodes)); err != nil {
			return 0, err
		}
	}
	if w.isDue(l) {
		return w.compare(ctx)
	}
	return 0, nil
}

// isDue reports whether to compare: when polling, after a failed Read, and now and then for changes
// that the server does not push.
func (w *watch) isDue(l listeners) bool {
	return w.polls(l) || w.source.failed.Load() || l.pushes() && !time.Now().Before(w.due)
}

// compare checks whether the rules are still those that were read.
func (w *watch) compare(ctx context.Context) (took time.Duration, err error) {
	w.source.failed.Store(false)
	took, err = w.source.content.compare(ctx, w.changed)
	w.due = time.Now().Add(max(unheard, unheardShare*took))
	return took, err
}

// lose reports that the server cannot be reached: at once in the log, and to the handler if it
// lasts.
func (w *watch) lose(err error) {
	w.source.reach.Fail(err)
	if w.lost.IsZero() {
		w.lost = time.Now()
		w.source.logger.Warn("redis cannot be reached; the last good rules go on serving", zap.Error(err))
	}
	if !w.told && time.Since(w.lost) >= grace {
		w.told = true
		w.changed()
	}
}

// find reports that the server can be reached, and how its changes are noticed.
func (w *watch) find(l listeners) {
	w.backoff.reset()
	logger := w.source.logger.With(zap.String("by", l.means()))
	switch {
	case !w.lost.IsZero():
		logger.Info("redis can be reached again")
	case !l.pushes() && w.source.every == 0:
		logger.Warn(
			"redis pushes no changes and is not polled: rules are read when the connection or Caddy starts")
	default:
		logger.Info("watching redis")
	}
	w.lost, w.told = time.Time{}, false
}
