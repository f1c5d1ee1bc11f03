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
	// compressing is held while a content is made, so that this takes one processor.
	compressing sync.Mutex

	mu      sync.Mutex // guards the fields below
	most    int        // how many changes are kept, 0 for no more
	pending []*entry   // those that are not stored yet, oldest first
	kept    map[id]*entry
	isRead  bool // whether kept was read
	outage  *Outage
}

// entry is a change that is pending or kept.
type entry struct {
	head
	id   // of one that is kept
	size int
	// content returns the content of one that is pending, or why there is none; nil for one that is
	// kept.
	content func() (content []byte, missing string)
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

// End stores the last changes, and stops. It returns at most [storage.LastSave] after the end of the
// last configuration.
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
	e := &entry{head: head{Change: c}}
	e.content = sync.OnceValues(func() ([]byte, string) {
		s.compressing.Lock()
		defer s.compressing.Unlock()
		return makeContent(keys)
	})
	switch {
	case s.most == 0:
		e.drop(Unstored)
	case c.Added+c.Removed+c.Changed > mostKeys:
		e.drop(TooLarge)
	}
	s.pending = append(s.pending, e)
	s.bound()
	go s.compress(e) // now, so that rulesets are not held while the storage does not answer
}

// drop drops the content of a pending entry.
func (e *entry) drop(why string) {
	e.Missing, e.size, e.content = why, 0, func() ([]byte, string) { return nil, why }
}

// compress makes the content of a pending entry, and has it stored.
func (s *Store) compress(e *entry) {
	content, missing := s.contentOf(e)()
	s.mu.Lock()
	if e.Missing == "" {
		e.Missing, e.size = missing, len(content)
	}
	s.bound()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// contentOf returns what makes the content of a pending entry.
func (s *Store) contentOf(e *entry) func() (content []byte, missing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.content
}

// bound drops the oldest pending entries, or their contents, where the storage does not take them in
// time. mu must be held.
func (s *Store) bound() {
	s.pending = s.pending[max(0, len(s.pending)-cmp.Or(s.most, recentChanges)):]
	size := 0
	for _, e := range slices.Backward(s.pending) {
		if size += e.size; size > mostPending && e.Missing == "" {
			e.drop(Unstored)
		}
	}
}

// Outage says since when changes cannot be stored; nil if they can.
func (s *Store) Outage() *Outage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outage
}
