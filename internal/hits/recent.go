package hits

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// recentHits has the stored hits of the last days, as they were last read: the shards of all servers
// may take seconds.
type recentHits struct {
	mu    sync.Mutex
	known *others
	err   error         // of the last reading
	next  time.Time     // when they are to be read again
	done  chan struct{} // closed when the reading ends that is under way; nil if there is none
}

const (
	// recentShare is how many times its duration passes before the next reading.
	recentShare = 20
	// recentKept is how long hits are kept that nobody asks for.
	recentKept = 10 * time.Minute
)

// ErrReading is the error while hits are read for the first time.
var ErrReading = errors.New("the hits of the last 30 days are still being read")

// Recent returns the hits of a ruleset, of which [List.Uses] knows the last 30 days. It reads them
// in the background, and waits for them as long as ctx lasts. Those of other servers may be older
// than in a [List].
func (k *Keeper) Recent(ctx context.Context, ruleset *resolver.Ruleset) (*List, error) {
	r := &k.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil && (!r.isOf(ruleset) || time.Now().After(r.next)) {
		r.done = make(chan struct{})
		go k.readRecent(ruleset, r.done)
	}
	if done := r.done; done != nil {
		r.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
		}
		r.mu.Lock()
	}
	switch {
	case r.known != nil && r.known.ruleset.SharesNumbers(ruleset):
		return k.listOf(ruleset, r.known), nil
	case r.err != nil:
		return nil, r.err
	}
	return nil, ErrReading
}

// isOf reports whether the last reading was for a ruleset, or failed.
func (r *recentHits) isOf(ruleset *resolver.Ruleset) bool {
	return r.err != nil || r.known != nil && r.known.ruleset.SharesNumbers(ruleset)
}

// readRecent reads the hits of all servers.
func (k *Keeper) readRecent(ruleset *resolver.Ruleset, done chan struct{}) {
	begun := time.Now()
	var read *others
	err := k.read(context.Background(), func(ctx context.Context, s *store) (err error) {
		read, err = s.recent(ctx, k.hits, ruleset)
		return err
	})
	if read == nil {
		read = newOthers(ruleset)
	}
	r := &k.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err = err; err == nil {
		r.known = read
	}
	r.next = time.Now().Add(max(othersFresh, recentShare*time.Since(begun)))
	r.done = nil
	close(done)
	time.AfterFunc(recentKept, func() { r.forget(read) })
}

// forget forgets hits unless newer ones were read.
func (r *recentHits) forget(old *others) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == old {
		r.known = nil
	}
}

// recent adds up what all servers have stored. The hits that this server counts are to be added to
// those of the last days.
func (s *store) recent(ctx context.Context, h *Counters, ruleset *resolver.Ruleset) (*others,
	error) {
	sum, err := s.others(ctx, ruleset)
	if sum == nil {
		sum = newOthers(ruleset)
	}
	today := header{Date: dayOf(time.Now())}
	for n := 0; n < shards && err == nil; n++ {
		err = s.eachKey(ctx, s.server, newChanges(header{}, nil), n, func(l *line) {
			if number, ok := ruleset.NumberOf(string(l.key)); ok {
				stored := l.N // perhaps more than counted, as long as counters are not restored
				l.advance(h.countOfKey(string(l.key)), today)
				sum.recent[number] += l.since(today.Date-topDays+1) - max(stored, l.N)
			}
		})
	}
	return sum, err
}

// Uses returns how often the rule with a number has redirected in the last 30 days. The list must be
// a recent one.
func (l *List) Uses(number int) uint64 {
	n := l.count(number).N
	if number < len(l.others.recent) {
		n += l.others.recent[number]
	}
	return uint64(max(int64(n), 0))
}
