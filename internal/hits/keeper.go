package hits

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/storage"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Keeper stores the hits of handlers of one name in Caddy's storage. It outlives reloads of Caddy's
// configuration.
type Keeper struct {
	name string
	hits *Counters

	// place is where hits are stored; nil until a handler has started.
	place   atomic.Pointer[storage.Place]
	saveNow chan struct{} // holds a value when a configuration has ended
	begin   sync.Once
	stop    context.CancelFunc
	ended   sync.WaitGroup

	reading     chan struct{}        // holds a value while hits are read
	latest      weak.Pointer[others] // read last; kept while a list uses it
	headers     []header             // of other servers, read last
	headersRead time.Time
	recent      recentHits
}

// NewKeeper returns a keeper for the hits of a name. [Keeper.KeepIn] tells it where to store them.
func NewKeeper(name string, hits *Counters) *Keeper {
	return &Keeper{
		name: name, hits: hits, saveNow: make(chan struct{}, 1), reading: make(chan struct{}, 1),
	}
}

const (
	// saveInterval is how often new hits are stored.
	saveInterval = time.Minute
	// othersTime is how long reading the hits of other servers may take.
	othersTime = time.Minute
	// othersFresh is how long these are reused. Other servers store once a minute.
	othersFresh = 10 * time.Second
)

// KeepIn sets the storage of the configuration that has started. It returns at once. When ctx, the
// context of the configuration, ends, the hits are stored, because Caddy may be about to stop.
func (k *Keeper) KeepIn(ctx context.Context, in certmagic.Storage, logger *zap.Logger) {
	k.place.Store(storage.NewPlace(ctx, in, logger, k.saveNow))
	k.begin.Do(func() {
		running, stop := context.WithCancel(context.Background())
		k.stop = stop
		k.ended.Go(func() { k.tick(running) })
		k.ended.Go(func() { k.keep(running) })
	})
}

// tick sets the clock of the hits every minute, even while the storage hangs.
func (k *Keeper) tick(ctx context.Context) {
	ticks := time.Tick(time.Minute)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case now := <-ticks:
			k.hits.tick(now)
		}
	}
}

// keep restores the hits, and stores them every minute, at midnight, when a configuration ends, and
// when ctx ends.
func (k *Keeper) keep(ctx context.Context) {
	store, err := k.store(k.place.Load().Context)
	if err != nil {
		k.place.Load().Logger.Error("hits are not kept over restarts, because this server has no name",
			zap.Error(err))
		return
	}
	ticks := time.Tick(saveInterval)
	stored := time.Now()
	for ctx.Err() == nil {
		place := k.place.Load()
		k.hits.tick(time.Now())
		err := k.save(ctx, store, place)
		if err == nil {
			stored = time.Now()
		} else if ctx.Err() == nil {
			place.Logger.Error("hits are not stored; trying again",
				zap.String("name", k.name), zap.Time("since", stored), zap.Error(err))
		}
		select {
		case <-ctx.Done():
		case <-k.saveNow:
		case <-ticks:
		case <-untilTomorrow():
		}
	}
	place := k.place.Load()
	if err := k.save(context.Background(), store, place); err != nil && store.hasNew(k.hits) {
		place.Logger.Error("hits are lost, because they could not be stored before the end",
			zap.String("name", k.name), zap.Time("since", stored), zap.Error(err))
	}
}

// save stores what has changed, and then records days, unless ctx ends. It logs if the storage does
// not answer.
func (k *Keeper) save(ctx context.Context, store *store, place *storage.Place) error {
	defer time.AfterFunc(saveInterval, func() {
		place.Logger.Error("the storage has not answered for a minute: hits are not stored",
			zap.String("name", k.name))
	}).Stop()
	store.use(place.Storage, place.Logger)
	if err := store.save(place.Context, k.hits, time.Now()); err != nil {
		return err
	}
	recording, cancel := context.WithCancel(place.Context)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if err := store.recordDays(recording, k.hits, time.Now()); err != nil {
		return fmt.Errorf("recording a day that is over: %w", err)
	}
	return nil
}

// untilTomorrow returns a channel that receives a value when the day is over.
func untilTomorrow() <-chan time.Time {
	now := time.Now()
	return time.After(dayOf(now.Add(24 * time.Hour)).date().Sub(now))
}

// store returns the store of this server.
func (k *Keeper) store(ctx context.Context) (*store, error) {
	server, err := storage.Await(ctx, caddy.InstanceID)
	place := k.place.Load()
	return newStore(k.name, server.String(), place.Storage, place.Logger), err
}

// read calls read for one caller at a time, within othersTime. It does nothing before a handler has
// started.
func (k *Keeper) read(ctx context.Context, read func(context.Context, *store) error) (err error) {
	if k.place.Load() == nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the hits in Caddy's storage cannot be read: %w", err)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, othersTime, errors.New("timed out after a minute"))
	defer cancel()
	select {
	case k.reading <- struct{}{}:
		defer func() { <-k.reading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	store, err := k.store(ctx)
	if err != nil {
		return err
	}
	return read(ctx, store)
}

// others returns what the other servers have counted for a ruleset. Callers at the same time share
// the result.
func (k *Keeper) others(ctx context.Context, ruleset *resolver.Ruleset) (*others, error) {
	o := new(others)
	err := k.read(ctx, func(ctx context.Context, store *store) (err error) {
		o = k.latest.Value()
		if o != nil && o.ruleset == ruleset && time.Since(o.read) < othersFresh {
			return nil
		}
		if o, err = store.others(ctx, ruleset); err == nil {
			k.latest = weak.Make(o)
		}
		return err
	})
	return o, err
}

// End stores the last hits, and stops the keeper. It returns at most [storage.LastSave] after
// the end of the last configuration.
func (k *Keeper) End() {
	if k.stop != nil {
		k.stop()
		k.ended.Wait()
	}
}
