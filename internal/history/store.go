package history

import (
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
	pending []*pending // those that are not stored yet, oldest first
	kept    map[id]*kept
	isRead  bool // whether kept was read
	outage  *Outage
}

// pending is a change that is not stored yet.
type pending struct {
	Change
	// content returns the content, or why there is none; size is its size, once that is known.
	content func() (content []byte, missing string)
	size    int
}

// kept is a change that is stored.
type kept struct {
	Change
	id
	order, size int // 0 for one that cannot be read
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
	// useTime is how long a use of the storage may take.
	useTime = time.Minute
)

// NewStore returns a store for the handlers of a name. [Store.KeepIn] tells it where to keep
// changes, and how many.
func NewStore(name string) *Store {
	return &Store{
		name: name, wake: make(chan struct{}, 1), using: make(chan struct{}, 1), kept: map[id]*kept{},
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

// Record adds a change, which is stored in the background. keys gives the rules that it changes, in
// any order. It is called later, and not at all where the change is too large.
func (s *Store) Record(c Change, keys iter.Seq[KeyChange]) {
	p := &pending{Change: c, content: noContent}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.most == 0:
		p.Missing = Unstored
	case c.Added+c.Removed+c.Changed > mostKeys:
		p.Missing = TooLarge
	default:
		p.content = sync.OnceValues(func() ([]byte, string) {
			s.compressing.Lock()
			defer s.compressing.Unlock()
			return makeContent(keys)
		})
	}
	s.pending = append(s.pending, p)
	s.bound()
	if s.most > 0 {
		go s.compress(p) // now, so that rulesets are not held while the storage does not answer
	}
}

func noContent() ([]byte, string) { return nil, "" }

// compress makes the content of a change, and has it stored.
func (s *Store) compress(p *pending) {
	e := s.stored(p)
	s.mu.Lock()
	if p.Missing == "" {
		p.Missing, p.size = e.Missing, len(e.content)
	}
	s.bound()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stored returns what is to be stored of a change.
func (s *Store) stored(p *pending) (e stored) {
	s.mu.Lock()
	c, content := p.Change, p.content
	s.mu.Unlock()
	e.Change = c
	if c.Missing == "" {
		e.content, e.Missing = content()
	}
	return e
}

// bound drops the oldest changes, or their contents, where the storage does not take them in time.
func (s *Store) bound() {
	most := s.most
	if most == 0 {
		most = recentChanges
	}
	s.pending = s.pending[max(0, len(s.pending)-most):]
	size := 0
	for _, p := range slices.Backward(s.pending) {
		if size += p.size; size > mostPending && p.Missing == "" {
			p.drop(Unstored)
		}
	}
}

// drop drops the content.
func (p *pending) drop(why string) { p.Missing, p.content, p.size = why, noContent, 0 }
