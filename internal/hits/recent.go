package hits

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// recentHits has the stored hits as they were last read for [Keeper.Recent].
type recentHits struct {
	mu    sync.Mutex
	known *others
	err   error         // of the last reading
	next  time.Time     // when they are to be read again
	done  chan struct{} // closed when the reading ends that is under way; nil if there is none
}

const (
	// recentWait is how long a caller waits.
	recentWait = 20 * time.Millisecond
	// recentShare is how many times the duration of a reading passes before the next one.
	recentShare = 20
	// recentKept is how long hits are kept that nobody asks for.
	recentKept = 10 * time.Minute
)

// Recent returns the hits of a ruleset with [List.Uses], or nil if they are not known yet. They are
// read in the background, since the shards of all servers may take seconds. What other servers have
// counted may be older than in a [List].
func (k *Keeper) Recent(ruleset *resolver.Ruleset) (*List, error) {
	r := &k.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	isOther := r.known != nil && !r.known.ruleset.SharesNumbers(ruleset)
	if r.done == nil && (isOther || time.Now().After(r.next)) {
		r.done = make(chan struct{})
		go k.readRecent(ruleset, r.done)
	}
	if done := r.done; done != nil {
		r.mu.Unlock()
		select {
		case <-done:
		case <-time.After(recentWait):
		}
		r.mu.Lock()
	}
	if r.known == nil || !r.known.ruleset.SharesNumbers(ruleset) {
		return nil, r.err
	}
	count := k.hits.counterOf(ruleset)
	return &List{Since: r.known.since, count: count, ruleset: ruleset, others: r.known}, nil
}

// readRecent reads the hits of all servers.
func (k *Keeper) readRecent(ruleset *resolver.Ruleset, done chan struct{}) {
	begun, read := time.Now(), &others{ruleset: ruleset}
	err := k.read(context.Background(), func(ctx context.Context, s *store) (err error) {
		read, err = s.recent(ctx, k.hits, ruleset)
		return err
	})
	r := &k.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err = err; err == nil {
		r.known = read
	}
	r.next = time.Now().Add(max(othersFresh, recentShare*time.Since(begun)))
	r.done = nil
	close(done)
	time.AfterFunc(recentKept, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.known == read {
			r.known = nil
		}
	})
}

// recent adds up what all servers have stored. What this server counts is to be added: recent lacks
// it.
func (s *store) recent(ctx context.Context, h *Counters, rules *resolver.Ruleset) (*others, error) {
	sum, err := s.others(ctx, rules)
	if err != nil {
		return nil, err
	}
	today := header{Date: dayOf(sum.read)}
	for n := range shards {
		err := s.eachKey(ctx, s.server, newChanges(header{}, nil), n, func(l *line) {
			if number, ok := rules.NumberOf(string(l.key)); ok {
				stored := l.N // more than counted, as long as the counters are not restored
				l.advance(h.countOfKey(string(l.key)), today)
				sum.recent[number] += l.since(today.Date-topDays+1) - max(stored, l.N)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// Uses returns how often the rule with a number has redirected in the last 30 days. The list is one
// of [Keeper.Recent].
func (l *List) Uses(number int) uint64 {
	n := l.count(number).N
	if number < len(l.others.recent) {
		n += l.others.recent[number]
	}
	return uint64(max(int64(n), 0))
}
