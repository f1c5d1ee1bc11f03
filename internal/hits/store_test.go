package hits

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// calendar is a server whose days pass as the test wants it.
type calendar struct {
	testing.TB
	*Counters
	*RulesetCounters
	store   *store
	storage certmagic.Storage
	now     time.Time
}

// newCalendar starts a server in whose shards there is about one key.
func newCalendar(t testing.TB, storage certmagic.Storage, server string,
	keys ...string) *calendar {
	c := &calendar{TB: t, storage: storage, now: noon, store: &store{server: server}}
	c.restart(keys...)
	return c
}

// restart starts the server anew, after a crash.
func (c *calendar) restart(keys ...string) {
	c.Counters = NewCounters(c.now)
	c.RulesetCounters = c.Begin(rulesetOf(c, keys...))
	c.store = newStore("links", c.store.server, c.storage, zap.NewNop())
}

// at lets days pass, and it be an hour.
func (c *calendar) at(days int, hour time.Duration) {
	c.now = noon.Truncate(24*time.Hour).AddDate(0, 0, days).Add(hour * time.Hour)
	c.tick(c.now)
}

// keep does what is done each minute.
func (c *calendar) keep() error { return c.store.keep(c.Context(), c.Counters, c.now) }

func (c *calendar) mustKeep() {
	c.Helper()
	if err := c.keep(); err != nil {
		c.Fatal(err)
	}
}

func (c *calendar) hit(key string, times int) {
	for range times {
		c.hitKey(c, key)
	}
}

// daysOf returns the days of a key, or of all keys, by how long they are after the first.
func (c *calendar) daysOf(key string) map[int]uint64 {
	c.Helper()
	servers, err := c.store.servers(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	w := newWindow(dayOf(c.now))
	servers[0].header = c.header()
	for _, of := range servers {
		if key == "" {
			of.addTo(w)
			continue
		}
		l, err := c.store.lineOf(c.Context(), of.name, key)
		if err != nil {
			c.Fatal(err)
		}
		if of.name == c.store.server {
			l.advance(c.countOfKey(key), header{Date: dayOf(c.now)})
		}
		l.eachDay(w.add)
	}
	days := map[int]uint64{}
	for _, d := range w.days {
		if d.N > 0 {
			days[int(dayOf(d.Date)-dayOf(noon))] = d.N
		}
	}
	return days
}

func (c *calendar) want(key string, want map[int]uint64) {
	c.Helper()
	if got := c.daysOf(key); !maps.Equal(got, want) {
		c.Errorf("the days of %q are %v, want %v", key, got, want)
	}
}

// Whatever operation on the storage fails, and whether the server goes on or is started anew then.
func TestNoDayIsLostOrDoubledWhereverAServerIsGone(t *testing.T) {
	keys := []string{"a", "b", "c", "d"}
	run := func(failing int, restarted bool) (operations int) {
		storage := newDrawer()
		storage.fails = func(_, _ string) bool {
			operations++
			return operations == failing
		}
		c := newCalendar(t, storage, "one", keys...)
		keep := func() {
			if c.keep() == nil {
				return
			}
			if restarted {
				c.restart(keys...)
			}
			c.mustKeep()
		}
		want := map[string]map[int]uint64{"": {}}
		for d := range 6 {
			c.at(d, 0)
			keep()
			c.at(d, 12)
			for i, key := range keys[:1+d%len(keys)] {
				c.hit(key, i+1)
			}
			keep()
			for _, key := range keys {
				was, sum := want[key], uint64(0)
				if was == nil {
					was = map[int]uint64{}
					want[key] = was
				}
				for _, n := range was {
					sum += n
				}
				if n := c.countOfKey(key).N - sum; n > 0 { // a crash loses what was not saved
					was[d] = n
					want[""][d] += n
				}
			}
		}
		storage.fails = nil
		for key, days := range want {
			if got := c.daysOf(key); !maps.Equal(got, days) {
				t.Fatalf("operation %d fails, restarted: %v: the days of %q are %v, want %v", failing,
					restarted, key, got, days)
			}
		}
		return operations
	}
	all := run(0, false)
	for failing := 1; failing <= all; failing++ {
		run(failing, false)
		run(failing, true)
	}
}

func TestHitsBeforeAPauseAreOfTheDayOfTheLastOne(t *testing.T) {
	storage := newDrawer()
	c := newCalendar(t, storage, "one", "a", "b")
	c.hit("a", 1)
	c.mustKeep()
	c.at(1, 9)
	c.mustKeep()
	c.hit("a", 2)
	c.hit("b", 3)
	c.mustKeep()
	c.at(4, 9)
	c.restart("a", "b")
	c.hit("a", 4)
	c.mustKeep()
	c.want("a", map[int]uint64{0: 1, 1: 2, 4: 4})
	c.want("b", map[int]uint64{1: 3})
	c.want("", map[int]uint64{0: 1, 1: 5, 4: 4})
	c.at(200, 9)
	c.mustKeep()
	c.hit("b", 1)
	c.want("b", map[int]uint64{200: 1})
	c.want("", map[int]uint64{200: 1})
}

func TestARuleThatIsRemovedAndAddedAgainHasItsDays(t *testing.T) {
	c := newCalendar(t, newDrawer(), "one", "a", "b")
	swap := func(keys ...string) {
		before := c.RulesetCounters
		c.RulesetCounters = c.Begin(rulesetOf(t, keys...))
		c.Retire(before, nil)
	}
	c.hit("a", 1)
	c.mustKeep()
	swap("b")
	for d := 1; d < 4; d++ {
		c.at(d, 0)
		c.mustKeep()
		c.hit("b", 1)
	}
	swap("a", "b")
	c.hit("a", 2)
	c.at(4, 0)
	c.mustKeep()
	c.want("a", map[int]uint64{0: 1, 3: 2})
	c.want("", map[int]uint64{0: 1, 1: 1, 2: 1, 3: 3})
}

func TestTheDaysOfServersAreAddedUp(t *testing.T) {
	storage := newDrawer()
	one, two := newCalendar(t, storage, "one", "a"), newCalendar(t, storage, "two", "a", "b")
	for d := range 3 {
		for i, c := range []*calendar{one, two} {
			c.at(d, 0)
			c.mustKeep()
			c.at(d, 9)
			c.hit("a", d+1+10*i)
			c.mustKeep()
		}
	}
	for d := 3; d < 6; d++ { // two is gone
		one.at(d, 0)
		one.mustKeep()
	}
	want := map[int]uint64{0: 12, 1: 14, 2: 16}
	one.want("a", want)
	one.want("", want)
	one.want("b", map[int]uint64{})
}

func TestAShardThatCannotBeReadIsPutAside(t *testing.T) {
	entry := shardEntry("a")
	for _, damaged := range []string{"", "{}", "shortlink hits 3 x", "shortlink hits 2 {}\na 1 1\nend 2\n"} {
		storage := newDrawer()
		c := newCalendar(t, storage, "one", "a", "b")
		c.hit("a", 1)
		c.hit("b", 1)
		c.mustKeep()
		c.at(1, 0)
		c.mustKeep()
		c.hit("a", 2)
		c.mustKeep()
		if storage.entries[entry] == "" {
			t.Fatalf("there is no %s", entry)
		}
		storage.entries[entry] = damaged
		c.at(2, 0)
		c.restart("a", "b")
		c.mustKeep()
		c.hit("a", 4)
		c.at(3, 0)
		c.mustKeep()
		wantCounts(t, c.Counters, map[string]uint64{"a": 7, "b": 1})
		c.want("a", map[int]uint64{2: 4}) // nobody knows how much of the others was on which day
		c.want("b", map[int]uint64{0: 1})
		storage.wantAside(t, damaged)
	}
}

// shardEntry returns the entry of the shard of a key.
func shardEntry(key string) string {
	return "shortlink/hits/links/one/" + shardName(shardOf([]byte(key)))
}

func (s *drawer) wantAside(t *testing.T, content string) {
	t.Helper()
	aside := 0
	for key, value := range s.entries {
		if strings.Contains(key, ".unreadable-") && value == content {
			aside++
		}
	}
	if aside != 1 {
		t.Errorf("%d entries with %q are put aside", aside, content)
	}
}

// A disk may fail also while a server runs, which then still knows the totals.
func TestAShardThatIsDamagedIsWrittenAnewWithAllTotals(t *testing.T) {
	storage := newDrawer()
	c := newCalendar(t, storage, "one", "a", "b")
	c.hit("a", 5)
	c.mustKeep()
	c.at(1, 0)
	c.mustKeep()
	storage.entries[shardEntry("a")] = "damaged"
	c.hit("b", 1)
	c.mustKeep()
	c.at(2, 0)
	c.mustKeep()
	c.restart("a", "b")
	c.mustKeep()
	wantCounts(t, c.Counters, map[string]uint64{"a": 5, "b": 1})
	c.want("", map[int]uint64{1: 1})
}

func TestAClockThatWasAheadStopsNoDays(t *testing.T) {
	c := newCalendar(t, newDrawer(), "one", "a")
	c.hit("a", 1)
	c.mustKeep()
	c.at(1000, 9)
	c.mustKeep()
	c.at(1, 9)
	c.mustKeep()
	c.hit("a", 2)
	c.at(2, 0)
	c.mustKeep()
	c.want("", map[int]uint64{1: 2})
}

func TestTheKeysUsedMostAreThoseOfTheLastDays(t *testing.T) {
	var keys []string
	for i := range 3 * topKeys {
		keys = append(keys, fmt.Sprintf("k%03d", i))
	}
	c := newCalendar(t, newDrawer(), "one", keys...)
	most := func() map[string]uint64 {
		sums := map[string]uint64{}
		for _, top := range c.top() {
			sums[top.Key] = top.N
		}
		return sums
	}
	for i, key := range keys {
		c.hit(key, 1+i)
	}
	c.mustKeep()
	if got := most(); len(got) != topKeys || got["k299"] != 300 || got["k200"] != 201 {
		t.Errorf("on the first day they are %v", got)
	}
	for d := 1; d < topDays; d++ {
		c.at(d, 0)
		c.mustKeep()
	}
	c.hit("k299", 5)
	if got := most(); len(got) != topKeys || got["k299"] != 305 || got["k200"] != 201 {
		t.Errorf("after %d days they are %v", topDays, got)
	}
	c.at(topDays, 0)
	c.mustKeep()
	if got := most(); !maps.Equal(got, map[string]uint64{"k299": 5}) {
		t.Errorf("later they are %v", got)
	}
}

func TestTheDaysOfAKeyAreReadWithoutThoseOfOthers(t *testing.T) {
	var keys []string
	for i := range 64 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	storage := newDrawer()
	c := newCalendar(t, storage, "one", keys...)
	for d := range 4 {
		c.at(d, 0)
		c.mustKeep()
		for _, key := range keys {
			c.hit(key, 1)
		}
	}
	loads := 0
	storage.fails = func(operation, _ string) bool {
		if operation == "load" {
			loads++
		}
		return false
	}
	if c.daysOf("k7"); loads > 2 { // what is not in the shards, and one of these
		t.Errorf("for a key %d entries of %d are read", loads, len(storage.entries))
	}
	loads = 0
	if c.daysOf(""); loads > 0 {
		t.Errorf("for all keys together %d entries of %d are read", loads, len(storage.entries))
	}
}

func TestNoDaysAreWrittenWhereNothingWasHit(t *testing.T) {
	storage := newDrawer()
	c := newCalendar(t, storage, "one", "a")
	for d := range 3 {
		c.at(d, 0)
		c.mustKeep()
	}
	if storage.stores > 0 {
		t.Errorf("%d entries are written before any hit", storage.stores)
	}
	c.hit("a", 1)
	c.mustKeep()
	c.want("a", map[int]uint64{2: 1})
	before := storage.stores
	c.mustKeep()
	if storage.stores != before {
		t.Errorf("%d entries are written without a hit", storage.stores-before)
	}
	c.hit("a", 1)
	c.mustKeep()
	if n := storage.stores - before; n > 2 {
		t.Errorf("in a minute %d entries are written", n)
	}
}
