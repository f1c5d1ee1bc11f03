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
	// succeeded is when a source was last read and served, or when the copy was stored that stands in.
	succeeded map[string]time.Time

	// shelf is where the hits are kept, nil until a handler has started; stop ends the keeping.
	shelf atomic.Pointer[shelf]
	begin sync.Once
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// shelf is Caddy's storage, and where to say that it cannot be used.
type shelf struct {
	storage certmagic.Storage
	logger  *zap.Logger
}

// reloadLabels say what a load was of, and what came of it.
type reloadLabels struct{ source, result string }

func newTally(name string) *tally {
	return &tally{name: name, hits: newHits(time.Now()), reloads: map[reloadLabels]uint64{}, succeeded: map[string]time.Time{}}
}

// count counts what became of a request. A rule has been of use, too, where it leaves a request where it is.
func (t *tally) count(result *resolver.Result, c *counted) {
	t.outcomes[result.Outcome].Add(1)
	if result.Key != "" && result.Err == nil {
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
			t.succeeded[sourceLabel(source)] = timeOfRules(source, now)
		}
		t.reloads[reloadLabels{sourceLabel(source), result}]++
	}
}

// timeOfRules returns of when the rules are that a source has returned now.
func timeOfRules(source Source, now time.Time) time.Time {
	if outage := outageOf(source); outage != nil && outage.StoredCopy {
		return outage.CopyTime
	}
	return now
}

// lastSuccess returns of when the rules of a source are; zero if nobody knows.
func (t *tally) lastSuccess(source Source) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.succeeded[sourceLabel(source)]
}

// keep keeps the hits in a storage, from now on: that of the handler that has started last. It returns at once.
func (t *tally) keep(storage certmagic.Storage, logger *zap.Logger) {
	t.shelf.Store(&shelf{storage, logger})
	t.begin.Do(func() {
		ctx, stop := context.WithCancel(context.Background())
		t.stop = stop
		t.ended.Go(func() { t.tickOn(ctx) })
		t.ended.Go(func() { t.keepOn(ctx) })
	})
}

// saveInterval is how often the hits are stored, if there are new ones.
const saveInterval = time.Minute

// tickOn sets the clock of the hits.
func (t *tally) tickOn(ctx context.Context) {
	ticks := time.NewTicker(time.Minute)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			t.hits.tick(now)
		}
	}
}

// lastSave is how long storing the last hits may take.
const lastSave = 10 * time.Second

// keepOn reads the hits that were stored before, and stores them every minute and in the end.
func (t *tally) keepOn(ctx context.Context) {
	server, err := caddy.InstanceID()
	if err != nil {
		t.shelf.Load().logger.Error("hits are not kept over restarts, as this server has no name", zap.Error(err))
		return
	}
	store := newHitStore(t.name, server.String())
	ticks := time.NewTicker(saveInterval)
	defer ticks.Stop()
	t.save(ctx, store, false)
	for {
		select {
		case <-ctx.Done():
			ctx, end := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
			defer end()
			t.hits.settle()
			t.save(ctx, store, true)
			return
		case <-ticks.C:
			t.save(ctx, store, false)
		}
	}
}

// save adds what was stored before, if that has not been done yet, and stores what has changed, or all if whole is set.
func (t *tally) save(ctx context.Context, store *hitStore, whole bool) {
	where := t.shelf.Load()
	store.use(where)
	if err := store.restore(ctx, t.hits); err != nil {
		where.logger.Error("stored hits cannot be read; trying again", zap.Error(err))
		return
	}
	if err := store.save(ctx, t.hits, whole); err != nil {
		where.logger.Error("hits cannot be stored; trying again", zap.Error(err))
	}
}

// others returns what other servers that share the storage have counted, and since when.
func (t *tally) others(ctx context.Context) (map[string]hit, time.Time, error) {
	where := t.shelf.Load()
	server, err := caddy.InstanceID()
	if where == nil || err != nil {
		return nil, time.Time{}, nil
	}
	store := newHitStore(t.name, server.String())
	store.use(where)
	return store.others(ctx)
}

// Destruct stores all hits when the last handler of the name is gone.
func (t *tally) Destruct() error {
	if t.stop != nil {
		t.stop()
		t.ended.Wait()
	}
	return nil
}

// Interface guard
var _ caddy.Destructor = (*tally)(nil)
