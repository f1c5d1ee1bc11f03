package hits

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// silentStorage is a storage that does not answer for some keys before the test ends.
type silentStorage struct {
	*drawer
	silent func(key string) bool
	end    chan struct{}
}

func newSilentStorage(t *testing.T, silent func(key string) bool) *silentStorage {
	s := &silentStorage{newDrawer(), silent, make(chan struct{})}
	t.Cleanup(func() { close(s.end) })
	return s
}

func (s *silentStorage) wait(key string) {
	if s.silent(key) {
		<-s.end
	}
}

func (s *silentStorage) Load(ctx context.Context, key string) ([]byte, error) {
	s.wait(key)
	return s.drawer.Load(ctx, key)
}

func (s *silentStorage) Store(ctx context.Context, key string, value []byte) error {
	s.wait(key)
	return s.drawer.Store(ctx, key, value)
}

func (s *silentStorage) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	s.wait(prefix)
	return s.drawer.List(ctx, prefix, recursive)
}

func always(string) bool { return true }

// configuration returns the context of a configuration, and a function that ends it.
func configuration() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.Background())
}

// counted is what is counted of handlers of one name, and kept.
type counted struct {
	hits   *Counters
	keeper *Keeper
}

func newCounted(name string) counted {
	hits := NewCounters(time.Now())
	return counted{hits, NewKeeper(name, hits)}
}

func endAll(tallies ...counted) {
	for _, tally := range tallies {
		tally.keeper.End()
	}
}

// wantStored starts a server anew, and looks at what it has counted before.
func wantStored(t *testing.T, storage *drawer, name string, want map[string]uint64) {
	t.Helper()
	ctx, end := configuration()
	tally := newCounted(name)
	tally.keeper.KeepIn(ctx, storage, zap.NewNop())
	synctest.Wait()
	wantCounts(t, tally.hits, want)
	end()
	endAll(tally)
}

func TestHitsAreStoredEveryMinuteAndWhenTheLastHandlerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := newDrawer()
		ctx, end := configuration()
		tally := newCounted("links")
		c := tally.hits.Begin(rulesetOf(t, "a", "b"))
		tally.keeper.KeepIn(ctx, storage, zap.NewNop())
		c.hitKey(t, "a")
		time.Sleep(saveInterval + time.Second)
		if storage.written() == 0 {
			t.Error("nothing is stored after a minute")
		}
		time.Sleep(time.Hour)
		c.hitKey(t, "b")
		if m := tally.hits.countOfKey("b"); time.Since(m.Time()) > 2*time.Minute {
			t.Errorf("b was hit at %v", m.Time())
		}
		next := tally.hits.Begin(rulesetOf(t, "a", "b"))
		tally.hits.Retire(c, nil)
		c.hitKey(t, "a") // by a request that is late
		end()
		endAll(tally)
		next.hitKey(t, "b") // which is too late
		wantStored(t, storage, "links", map[string]uint64{"a": 2, "b": 1})
	})
}

// Who has emptied a file by mistake has a minute to bring it back.
func TestManyRulesThatAreGoneForAMomentKeepTheirHits(t *testing.T) {
	var keys []string
	for i := range mostUnserved + 1 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	all, none := rulesetOf(t, keys...), rulesetOf(t)
	h := NewCounters(noon)
	c := h.Begin(all)
	for n := range c.words {
		if all.KeyOf(n) != "" {
			c.Count(n)
		}
	}
	empty := h.Begin(none)
	h.Retire(c, nil)
	h.Begin(all)
	h.Retire(empty, nil)
	if n := len(h.counts()); n != len(keys) {
		t.Errorf("%d rules of %d have their hits", n, len(keys))
	}
}

func TestAStorageThatNeverAnswersDelaysAStopByTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := newSilentStorage(t, always)
		core, log := observer.New(zapcore.ErrorLevel)
		ctx, end := configuration()
		one, two := newCounted("one"), newCounted("two")
		for _, tally := range []counted{one, two} {
			c := tally.hits.Begin(rulesetOf(t, "a"))
			tally.keeper.KeepIn(ctx, storage, zap.New(core))
			c.hitKey(t, "a")
		}
		time.Sleep(time.Hour)
		if n := log.FilterMessageSnippet("has not answered for a minute").Len(); n != 2 {
			t.Errorf("the log says %d times that the storage does not answer", n)
		}
		end()
		began := time.Now()
		endAll(one, two)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the stop takes %v", took)
		}
		for _, name := range []string{"one", "two"} {
			lost := log.FilterMessageSnippet("hits are lost").FilterField(zap.String("name", name))
			if lost.Len() != 1 ||
				!lost.All()[0].ContextMap()["since"].(time.Time).Before(began.Add(-59*time.Minute)) {
				t.Errorf("the log says of the hits of %s: %v", name, lost.All())
			}
		}
	})
}

func TestHitsOfANameAreStoredWhereThoseOfAnotherCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := newSilentStorage(t, func(key string) bool { return strings.Contains(key, "/one/") })
		ctx, end := configuration()
		one, two := newCounted("one"), newCounted("two")
		for _, tally := range []counted{one, two} {
			c := tally.hits.Begin(rulesetOf(t, "a"))
			tally.keeper.KeepIn(ctx, storage, zap.NewNop())
			c.hitKey(t, "a")
		}
		synctest.Wait()
		end()
		endAll(one, two)
		wantStored(t, storage.drawer, "two", map[string]uint64{"a": 1})
	})
}

func TestANewStorageTakesTheHitsThatTheOldOneDoesNotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, endBefore := configuration()
		after, end := configuration()
		tally := newCounted("links")
		c := tally.hits.Begin(rulesetOf(t, "a"))
		tally.keeper.KeepIn(before, newSilentStorage(t, always), zap.NewNop())
		c.hitKey(t, "a")
		time.Sleep(time.Hour)
		storage := newDrawer()
		tally.keeper.KeepIn(after, storage, zap.NewNop())
		endBefore()
		time.Sleep(2 * saveInterval)
		if storage.written() == 0 {
			t.Error("nothing is stored")
		}
		end()
		endAll(tally)
	})
}

func TestTheHitsOfOtherServersAreNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := configuration()
		tally := newCounted("links")
		rules := rulesetOf(t, "a")
		tally.keeper.KeepIn(ctx, newSilentStorage(t, always), zap.NewNop())
		client, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		for asked, most := range map[context.Context]time.Duration{client: time.Second,
			t.Context(): othersTime} {
			began := time.Now()
			_, err := tally.keeper.others(asked, rules)
			if took := time.Since(began); err == nil || took > most {
				t.Errorf("after %v: %v", took, err)
			}
		}
		end()
		endAll(tally)
	})
}

func TestTheHitsOfOtherServersAreReadOnceForAllWhoAskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := newDrawer()
		h, c, s := serverWith(t, storage, "other", "a")
		c.hitKey(t, "a")
		s.mustSave(t, h)
		ctx, end := configuration()
		tally := newCounted("links")
		tally.keeper.KeepIn(ctx, storage, zap.NewNop())
		ask := func() *others {
			others, err := tally.keeper.others(t.Context(), c.ruleset)
			if err != nil {
				t.Fatal(err)
			}
			return others
		}
		first := ask()
		if ask() != first {
			t.Error("who asks at once gets others")
		}
		time.Sleep(othersFresh)
		if ask() == first {
			t.Error("who asks later gets the same")
		}
		end()
		endAll(tally)
	})
}
