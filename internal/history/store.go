package history

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/storage"
)

// Store has the changes of the handlers of one name. It outlives reloads of Caddy's configuration.
type Store struct {
	name string
	// place is where changes are kept; nil until a handler has started.
	place atomic.Pointer[storage.Place]
	wake  chan struct{} // holds a value when there is something to store
	begin sync.Once
	stop  context.CancelFunc
	ended sync.WaitGroup
	using chan struct{} // holds a value while the storage is used

	// mu guards the fields below. Only visits change kept, so that they need not hold it to look.
	mu      sync.Mutex
	most    int      // how many changes are kept, 0 for no more
	pending []*entry // those that are not stored yet, oldest first
	kept    map[id]*entry
	isRead  bool // whether kept was read
	outage  *Outage
}

// entry is a change that is pending or kept.
type entry struct {
	head
	id   // of one that is kept
	size int
	// keys and content are of one that is pending: the rules that it changes, until they have become
	// the content. Only a visit uses the content.
	keys    iter.Seq[KeyChange]
	content []byte
	// isKnown says that this server has seen the change happen, or has not run then. So if it
	// happens again, that is another change.
	isKnown bool
}

// Outage says since when and why changes cannot be stored.
type Outage struct {
	Since time.Time `json:"since"`
	Error string    `json:"error"`
}

const (
	// DefaultKept is how many changes are kept where nothing else is said, and MostKept the most.
	DefaultKept, MostKept = 100, 1000
	// mostStored is the size of all entries together, mostPending that of contents in memory.
	mostStored, mostPending = 64 << 20, 16 << 20
	// recentChanges is how many changes are remembered where none are kept.
	recentChanges = 50
)

// NewStore returns a store for the handlers of a name. [Store.KeepIn] tells it where to keep
// changes, and how many.
func NewStore(name string) *Store {
	return &Store{
		name: name, wake: make(chan struct{}, 1), using: make(chan struct{}, 1), kept: map[id]*entry{},
	}
}

// KeepIn sets the storage of the configuration that has started, and how many changes are kept, 0
// for no more. It returns at once.
func (s *Store) KeepIn(ctx context.Context, in certmagic.Storage, logger *zap.Logger, most int) {
	s.place.Store(storage.NewPlace(ctx, in, logger, s.wake))
	s.mu.Lock()
	s.most = most
	s.mu.Unlock()
	s.begin.Do(func() {
		running, stop := context.WithCancel(context.Background())
		s.stop = stop
		s.ended.Go(func() { s.keep(running) })
	})
}

// End stores the last changes, and stops. It returns at most [storage.LastSave] after the end of
// the last configuration.
func (s *Store) End() {
	if s.stop != nil {
		s.stop()
		s.ended.Wait()
	}
}

// Record adds a change, which is stored in the background. keys gives the rules that it changes, in
// any order. It is called later, and not at all where the change is too large.
func (s *Store) Record(c Change, keys iter.Seq[KeyChange]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.most == 0:
		c.Missing, keys = Off, nil
	case c.Total() > mostKeys:
		c.Missing, keys = TooLarge, nil
	}
	s.pending = append(s.pending, &entry{head: head{Change: c}, keys: keys})
	s.pending = s.pending[max(0, len(s.pending)-cmp.Or(s.most, recentChanges)):]
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// makeContents makes the contents of entries that are not stored, so that they hold no rulesets,
// and drops the oldest where they are too large together.
func (v *visit) makeContents() {
	size := 0
	for _, e := range slices.Backward(v.unstored) {
		content, missing := e.content, e.Missing
		if e.keys != nil {
			content, missing = makeContent(e.keys)
		}
		if size += len(content); size > mostPending {
			content, missing = nil, Unstored
		}
		v.mu.Lock()
		e.keys, e.content, e.Missing = nil, content, missing
		v.mu.Unlock()
	}
}

// pendingNow returns the entries that are not stored yet, oldest first.
func (s *Store) pendingNow() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pending)
}

// Outage says since when changes cannot be stored; nil if they can.
func (s *Store) Outage() *Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outage
}
