package redis

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// recheck is how often is looked whether a Read failed that nothing else would make up for.
	recheck = time.Second
	// unheard is how often rules are compared where the server tells of its changes: of SWAPDB it
	// does not, nor by keyspace events of FLUSHALL, and these can be turned off.
	unheard = time.Minute
	// unheardShare is how many times as long as a reading that pause is at least: comparing very many
	// rules for a whole fleet is not to keep the server busy.
	unheardShare = 100
	// grace is how long the server may be gone before the handler reads rules, in vain, and rejects
	// them: a server that is restarted is back sooner.
	grace = 2 * time.Second
	// pollShare is how many times as long as a reading the pause is that follows it.
	pollShare = 2
)

// Watch calls changed when the rules may have changed; see [source.Source]. It listens to the
// server, or polls where that pushes nothing. After each loss of the connection it compares all
// rules with what was read last. While the server cannot be reached it tries again and again, with
// growing pauses.
func (s *Source) Watch(ctx context.Context, version string, changed func()) {
	s.content.begin(version)
	s.watch(ctx, func(...string) { changed() })
}

// WatchKeys is Watch that says which keys have changed; see [source.Changing].
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

// rest waits until it is time to try again: after a pause, or as somebody else has reached the
// server meanwhile.
func (w *watch) rest(ctx context.Context) {
	w.source.answered.drop()
	waitFor(ctx, w.backoff.next(), w.source.answered)
}

// watch is what Watch knows from one connection to the next.
type watch struct {
	source  *Source
	changed func(keys ...string)
	backoff backoff
	lost    time.Time // since when the server cannot be reached; zero if it can be
	told    bool      // whether the handler has been told so
	due     time.Time // when to compare though the server has told of nothing
}

// session watches the rules until the connection is lost, and returns why.
func (w *watch) session(ctx context.Context) error {
	// Listening comes first, so that there is no time in between in which a change goes unnoticed.
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

// follow waits for changes until ctx ends, as the listeners have ended, and returns why. A
// comparison took some time.
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

// pause says when to look next; a look took some time.
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

// look looks, without being told to, whether there is anything to do. It returns how long reading
// the rules took, or 0 where there was no need to.
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

// isDue reports whether a look is to compare: when polling, when a Read found no server, and now
// and then where the server tells of changes, for those that it does not tell of.
func (w *watch) isDue(l listeners) bool {
	return w.polls(l) || w.source.failed.Load() || l.pushes() && !time.Now().Before(w.due)
}

// compare finds out whether all rules are still those that were read.
func (w *watch) compare(ctx context.Context) (took time.Duration, err error) {
	w.source.failed.Store(false)
	took, err = w.source.content.compare(ctx, w.changed)
	w.due = time.Now().Add(max(unheard, unheardShare*took))
	return took, err
}

// lose says that the server cannot be reached: at once in the log, and to the handler when that has
// lasted for a while.
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

// find says that the server can be reached, and how its changes are noticed.
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
