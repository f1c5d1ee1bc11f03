package hits

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// running is a server that runs: handlers of one name that count, and keep what they count.
type running struct {
	counted
	*RulesetCounters
	end context.CancelFunc
}

// startServer starts a server. In a bubble of synctest the year is 2000, which is before any hit.
func startServer(t *testing.T, storage certmagic.Storage, keys ...string) *running {
	t.Helper()
	if wait := time.Until(noon); wait > 0 {
		time.Sleep(wait)
	}
	ctx, end := configuration()
	tally := newCounted("links")
	c := tally.hits.Begin(rulesetOf(t, keys...))
	tally.keeper.KeepIn(ctx, storage, zap.NewNop())
	synctest.Wait()
	return &running{tally, c, end}
}

// stop stops the server, which stores its last hits.
func (r *running) stop() {
	r.end()
	endAll(r.counted)
}

func (r *running) hit(t *testing.T, key string, times int) {
	t.Helper()
	for range times {
		r.hitKey(t, key)
	}
}

// sleepUntil sleeps until an hour of a day after the first one.
func sleepUntil(days, hour int) {
	begin := noon.Truncate(24 * time.Hour)
	time.Sleep(time.Until(begin.AddDate(0, 0, days).Add(time.Duration(hour) * time.Hour)))
}

// wantDays looks at the days that are not empty, by how long they are after the first one.
func wantDays(t *testing.T, got []Day, err error, want map[int]uint64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	if last := got[len(got)-1].Date; len(got) != DaysKept || !last.Equal(today) {
		t.Errorf("there are %d days, the last is %v", len(got), last)
	}
	days := map[int]uint64{}
	for _, d := range got {
		if d.N > 0 {
			days[int(dayOf(d.Date)-dayOf(noon))] = d.N
		}
	}
	if !maps.Equal(days, want) {
		t.Errorf("the days are %v, want %v", days, want)
	}
}

func (r *running) wantDays(t *testing.T, want map[int]uint64) {
	t.Helper()
	time.Sleep(othersFresh)
	all, err := r.keeper.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantDays(t, all.Days, nil, want)
}

func (r *running) wantDaysOf(t *testing.T, key string, total uint64, want map[int]uint64) {
	t.Helper()
	days, count, err := r.keeper.DaysOf(t.Context(), key)
	wantDays(t, days, err, want)
	if count.N != total {
		t.Errorf("%s has %d hits, want %d", key, count.N, total)
	}
}

func TestEachDayHasItsHits(t *testing.T) {
	if _, err := caddy.InstanceID(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, newDrawer(), "a", "b")
		s.hit(t, "a", 3)
		s.wantDays(t, map[int]uint64{0: 3})
		s.wantDaysOf(t, "a", 3, map[int]uint64{0: 3})
		sleepUntil(1, 3)
		s.hit(t, "a", 1)
		s.hit(t, "b", 5)
		s.wantDays(t, map[int]uint64{0: 3, 1: 6})
		sleepUntil(3, 23)
		s.hit(t, "a", 2)
		s.wantDays(t, map[int]uint64{0: 3, 1: 6, 3: 2})
		s.wantDaysOf(t, "a", 6, map[int]uint64{0: 3, 1: 1, 3: 2})
		s.wantDaysOf(t, "b", 5, map[int]uint64{1: 5})
		s.stop()
	})
}

func TestDaysAreKeptOverARestart(t *testing.T) {
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, storage, "a")
		s.hit(t, "a", 3)
		sleepUntil(1, 23)
		s.hit(t, "a", 1)
		s.stop()
		sleepUntil(3, 5) // off over midnight
		s = startServer(t, storage, "a")
		s.hit(t, "a", 7)
		s.wantDays(t, map[int]uint64{0: 3, 1: 1, 3: 7})
		s.wantDaysOf(t, "a", 11, map[int]uint64{0: 3, 1: 1, 3: 7})
		s.stop()
	})
}

func TestDaysLongAgoAreDropped(t *testing.T) {
	storage := newDrawer()
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, storage, "a", "b")
		s.hit(t, "b", 1)
		const many = 105
		want := map[int]uint64{}
		for d := range many {
			sleepUntil(d, 12)
			s.hit(t, "a", d+1)
			want[d] = uint64(d + 1)
		}
		maps.DeleteFunc(want, func(d int, _ uint64) bool { return d < many-DaysKept })
		s.wantDays(t, want)
		s.wantDaysOf(t, "a", many*(many+1)/2, want)
		s.wantDaysOf(t, "b", 1, map[int]uint64{})
		s.stop()
	})
	if n := len(storage.entries); n > 3 { // what is not in the shards, and these of two keys
		t.Errorf("the storage has %d entries", n)
	}
}
