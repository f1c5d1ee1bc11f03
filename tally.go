package shortlink

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// tally is what is counted of all handlers of one name. It is there as long as one of them is, and so goes on over reloads of
// Caddy's configuration.
type tally struct {
	name     string
	outcomes [3]atomic.Uint64 // by resolver.Outcome
	hits     *hits

	mu      sync.Mutex
	reloads map[reloadLabels]uint64
	// succeeded is when a source was last read and served.
	succeeded map[string]time.Time

	saving sync.Mutex // held by the one who stores the hits; guards what follows
	store  *hitStore  // nil until a handler has started
	logger *zap.Logger
	stop   context.CancelFunc // ends keeping
	kept   chan struct{}      // closed when that has ended
}

// reloadLabels say what a load was of, and what came of it.
type reloadLabels struct{ source, result string }

func newTally(name string) *tally {
	return &tally{name: name, hits: newHits(time.Now()), reloads: map[reloadLabels]uint64{}, succeeded: map[string]time.Time{}}
}

// count counts what became of a request.
func (t *tally) count(result *resolver.Result, c *counted) {
	t.outcomes[result.Outcome].Add(1)
	if result.Outcome == resolver.Redirect {
		c.hit(result.Rule)
	}
}

// loaded takes down what came of reading sources.
func (t *tally) loaded(sources []Source, err error, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, source := range sources {
		result := "loaded"
		if err != nil {
			result = "rejected"
		} else {
			t.succeeded[source.String()] = now
		}
		t.reloads[reloadLabels{source.String(), result}]++
	}
}

// keep keeps the hits in a storage, from now on: that of the handler that has started last.
func (t *tally) keep(storage certmagic.Storage, logger *zap.Logger) {
	t.saving.Lock()
	defer t.saving.Unlock()
	t.logger = logger
	if t.store != nil {
		t.store.storage, t.store.logger = storage, logger
		return
	}
	store, err := newHitStore(storage, t.name, logger)
	if err != nil {
		logger.Error("hits are not kept over restarts", zap.Error(err))
		return
	}
	t.store = store
	ctx, stop := context.WithCancel(context.Background())
	t.stop, t.kept = stop, make(chan struct{})
	go t.keepOn(ctx)
}

// saveInterval is how often the hits are stored, if there are new ones.
const saveInterval = time.Minute

// keepOn stores the hits every minute, and sets their clock.
func (t *tally) keepOn(ctx context.Context) {
	defer close(t.kept)
	ticks := time.NewTicker(saveInterval)
	defer ticks.Stop()
	t.restore(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			t.hits.tick(now)
			t.restore(ctx)
			t.save(ctx, false)
		}
	}
}

// restore adds the hits that were stored before, as soon as the storage can be read.
func (t *tally) restore(ctx context.Context) {
	t.saving.Lock()
	defer t.saving.Unlock()
	if err := t.store.restore(ctx, t.hits); err != nil {
		t.logger.Error("stored hits cannot be read; trying again", zap.Error(err))
	}
}

// save stores the hits, all of them if whole is set.
func (t *tally) save(ctx context.Context, whole bool) {
	t.saving.Lock()
	defer t.saving.Unlock()
	if err := t.store.save(ctx, t.hits, whole); err != nil {
		t.logger.Error("hits cannot be stored; trying again", zap.Error(err))
	}
}

// Destruct stores all hits when the last handler of the name is gone.
func (t *tally) Destruct() error {
	if t.stop == nil {
		return nil
	}
	t.stop()
	<-t.kept
	t.hits.settle()
	t.restore(context.Background())
	t.save(context.Background(), true)
	return nil
}

// Interface guard
var _ caddy.Destructor = (*tally)(nil)
