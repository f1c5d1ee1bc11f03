package hits

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// wantUses looks at how often keys were used in the last 30 days.
func (r *running) wantUses(t *testing.T, want map[string]uint64) {
	t.Helper()
	time.Sleep(othersFresh + time.Second)
	list, err := r.keeper.Recent(r.ruleset)
	if err != nil {
		t.Fatal(err)
	}
	for key, n := range want {
		number, _ := r.ruleset.NumberOf(key)
		if got := list.Uses(number); got != n {
			t.Errorf("%s has %d uses, want %d", key, got, n)
		}
	}
}

func TestUsesAreThoseOfTheLastThirtyDays(t *testing.T) {
	if _, err := caddy.InstanceID(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		storage := newDrawer()
		s := startServer(t, storage, "a", "b")
		s.hit(t, "a", 3)
		s.wantUses(t, map[string]uint64{"a": 3, "b": 0})
		list, err := s.keeper.Recent(s.ruleset)
		s.hit(t, "a", 1)
		if number, _ := s.ruleset.NumberOf("a"); err != nil || list.Uses(number) != 4 {
			t.Errorf("what this server counts is not known at once: %v", err)
		}
		// a search may go through rules that were loaded since
		if larger := s.ruleset.Numbers(); list.Uses(larger) != 0 || list.Of(larger).N != 0 {
			t.Error("a rule that the list does not know was used")
		}
		sleepUntil(10, 3)
		s.hit(t, "a", 10)
		s.hit(t, "b", 5)
		s.wantUses(t, map[string]uint64{"a": 14, "b": 5})
		sleepUntil(29, 12)
		s.wantUses(t, map[string]uint64{"a": 14, "b": 5})
		s.stop()
		s = startServer(t, storage, "a", "b")
		s.wantUses(t, map[string]uint64{"a": 14, "b": 5})
		sleepUntil(30, 3)
		s.wantUses(t, map[string]uint64{"a": 10, "b": 5})
		s.hit(t, "a", 1)
		sleepUntil(50, 3)
		s.wantUses(t, map[string]uint64{"a": 1, "b": 0})
		s.stop()
	})
}

func TestUsesAreThoseOfAllServers(t *testing.T) {
	storage := newDrawer()
	other := newCalendar(t, storage, "other", "a")
	for d := range 3 {
		other.at(d, 0)
		other.mustKeep()
		other.at(d, 9)
		other.hit("a", 2)
		other.mustKeep()
	}
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, storage, "a")
		sleepUntil(3, 12)
		s.hit(t, "a", 1)
		s.wantUses(t, map[string]uint64{"a": 7})
		sleepUntil(31, 12)
		s.wantUses(t, map[string]uint64{"a": 3}) // of the last two days
		s.stop()
	})
}

func TestWhoAsksForUsesWaitsForNoStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := configuration()
		tally := newCounted("links")
		rules := rulesetOf(t, "a")
		storage := newSilentStorage(t, always)
		tally.keeper.KeepIn(ctx, storage, zap.NewNop())
		for range 2 {
			began := time.Now()
			list, err := tally.keeper.Recent(rules)
			if took := time.Since(began); list != nil || err != nil || took > recentWait {
				t.Errorf("after %v: %v %v", took, list, err)
			}
		}
		end()
		endAll(tally)
		time.Sleep(othersTime)
	})
}
