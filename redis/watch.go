package redis

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// burst is how long changes are gathered that follow one another.
	burst = 100 * time.Millisecond
	// recheck is how often is looked whether a Read failed that nothing else would make up for.
	recheck = time.Second
	// unheard is how often the hash is compared where the server tells of its changes: of SWAPDB it
	// does not, nor by keyspace events of FLUSHALL, and these can be turned off.
	unheard = time.Minute
	// unheardShare is how many times as long as a reading that pause is at least: comparing a huge
	// hash for a whole fleet is not to keep the server busy.
	unheardShare = 100
	// grace is how long the server may be gone before the handler reads the hash, in vain, and rejects
	// its rules: a server that is restarted is back sooner.
	grace = 2 * time.Second
	// pollShare is how many times as long as a reading the pause is that follows it.
	pollShare = 2
)

// Watch calls changed when the hash may have changed; see [source.Source]. It listens to the
// server, or polls where that pushes nothing. After each loss of the connection it compares the
// whole hash with what is served. While the server cannot be reached it tries again and again, with
// growing pauses. It stores the rules that Read returned and that serve.
func (s *Source) Watch(ctx context.Context, version string, changed func()) {
	if version != "" {
		s.served.begin(version)
	}
	var storing sync.WaitGroup
	storing.Go(func() { s.copy.run(ctx, s.logger) })
	defer storing.Wait()

	w := &watch{source: s, changed: changed}
	for ctx.Err() == nil {
		err := w.session(ctx)
		if ctx.Err() != nil {
			return
		}
		w.lose(err)
		wait(ctx, w.backoff.next())
	}
}

// watch is what Watch knows from one connection to the next.
type watch struct {
	source  *Source
	changed func()
	backoff backoff
	lost    time.Time // since when the server cannot be reached; zero if it can be
	told    bool      // whether the handler has been told so
	due     time.Time // when to compare though the server has told of nothing
}

// session watches the hash until the connection is lost, and returns why.
func (w *watch) session(ctx context.Context) error {
	// Listening comes first, so that there is no time in between in which a change goes unnoticed.
	l, err := w.source.listen(ctx)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	var listening sync.WaitGroup
	listening.Go(func() { ended <- l.run(ctx) })
	defer listening.Wait()
	defer l.close()
	took, err := w.compare(ctx)
	if err != nil {
		return err
	}
	w.find(l)
	return w.follow(ctx, l, ended, took)
}

// follow waits for changes until ended tells that the listener has ended. A comparison took some
// time.
func (w *watch) follow(ctx context.Context, l *listener, ended <-chan error,
	took time.Duration) error {
	timer := time.NewTimer(w.pause(l, took))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-l.heard:
			wait(ctx, burst)
			l.forget()
			w.changed()
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
func (w *watch) pause(l *listener, took time.Duration) time.Duration {
	if w.polls(l) {
		return max(w.source.every, pollShare*took)
	}
	return max(recheck, pollShare*took)
}

// polls reports whether the hash is polled.
func (w *watch) polls(l *listener) bool {
	return !l.pushes() && w.source.every > 0
}

// look looks, without being told to, whether there is anything to do. It returns how long reading
// the hash took, or 0 where there was no need to.
func (w *watch) look(ctx context.Context, l *listener) (took time.Duration, err error) {
	if w.source.Cluster {
		node, err := w.source.server.node(ctx, w.source.Hash)
		if err != nil {
			return 0, err
		}
		if node.Options().Addr != l.address {
			return 0, errors.New("another node of the cluster has the hash now")
		}
	}
	if w.isDue(l) {
		return w.compare(ctx)
	}
	return 0, nil
}

// isDue reports whether a look is to compare: when polling, when a Read found no server, and now
// and then where the server tells of changes, for those that it does not tell of.
func (w *watch) isDue(l *listener) bool {
	return w.polls(l) || !w.source.served.isCurrent() || l.pushes() && !time.Now().Before(w.due)
}

// compare reads the whole hash and calls changed if it is not what is served.
func (w *watch) compare(ctx context.Context) (took time.Duration, err error) {
	begun := time.Now()
	_, version, err := w.source.load(ctx)
	if err != nil && !isRejection(err) {
		return 0, err
	}
	if !w.source.served.agrees(fingerprint(version, err)) {
		w.changed()
	}
	took = time.Since(begun)
	w.due = time.Now().Add(max(unheard, unheardShare*took))
	return took, nil
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
func (w *watch) find(l *listener) {
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
