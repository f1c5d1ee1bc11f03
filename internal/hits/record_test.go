package hits

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
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
	c.store.shardKeys = 1
}

// at lets days pass, and it be an hour.
func (c *calendar) at(days int, hour time.Duration) {
	c.now = noon.Truncate(24*time.Hour).AddDate(0, 0, days).Add(hour * time.Hour)
	c.tick(c.now)
}

// keep does what is done each minute.
func (c *calendar) keep() error {
	if err := c.store.save(c.Context(), c.Counters); err != nil {
		return err
	}
	return c.store.recordDays(c.Context(), c.Counters, c.now)
}

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
	servers, err := c.store.serverDays(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	today := dayOf(c.now)
	w := newWindow(today)
	for _, of := range servers {
		if key == "" {
			of.addAll(w, c.Counters, today)
			continue
		}
		m := c.countOfKey(key)
		if !of.isOwn {
			if m, err = of.countOf(c.Context(), key); err != nil {
				c.Fatal(err)
			}
		}
		if err := of.addDaysOf(c.Context(), w, key, m, today); err != nil {
			c.Fatal(err)
		}
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
		for d := range segmentDays + 3 {
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

func TestWhatWasCountedBeforeThereWereDaysIsOfNone(t *testing.T) {
	storage := newDrawer()
	h, old, s := serverWith(t, storage, "one", "a", "b")
	old.hitKey(t, "a")
	old.hitKey(t, "b")
	s.mustSave(t, h)
	c := newCalendar(t, storage, "one", "a", "b")
	c.at(5, 9)
	c.hit("a", 2) // before what was stored is read
	c.mustKeep()
	c.want("a", map[int]uint64{5: 2})
	c.at(6, 9)
	c.mustKeep()
	c.want("a", map[int]uint64{5: 2})
	c.want("b", map[int]uint64{})
	c.want("", map[int]uint64{5: 2})
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

func TestDaysThatCannotBeReadArePutAside(t *testing.T) {
	for _, name := range []string{"index", "1/0"} {
		for _, damaged := range []string{"", "{}", "shortlink days 2 x", "shortlink days 1 2026-11-21 " +
			"2026-11-21\na 1 1\nend 2\n"} {
			storage := newDrawer()
			c := newCalendar(t, storage, "one", "a")
			c.hit("a", 1)
			c.mustKeep()
			entry := "shortlink/hits/links/one/days/" + name
			if _, ok := storage.entries[entry]; !ok {
				t.Fatalf("there is no %s", entry)
			}
			storage.entries[entry] = damaged
			c.at(1, 0)
			c.restart("a")
			c.mustKeep()
			c.hit("a", 2)
			c.at(2, 0)
			c.mustKeep()
			c.want("a", map[int]uint64{1: 2}) // nobody knows what of the first hit was on the first day
			isAside := func(key string) bool {
				return strings.HasPrefix(key, entry+".unreadable-") && storage.entries[key] == damaged
			}
			aside := 0
			for key := range storage.entries {
				if isAside(key) {
					aside++
				}
			}
			if aside != 1 {
				t.Errorf("%s: %d entries are put aside", name, aside)
			}
		}
	}
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
	c.store.shardKeys = topKeys
	most := func() map[string]uint64 {
		servers, err := c.store.serverDays(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sums := map[string]uint64{}
		servers[0].addTop(sums, c.Counters)
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
	if c.daysOf("k7"); loads > 5 { // the index, what there is of today, and a shard of each segment
		t.Errorf("for a key %d entries of %d are read", loads, len(storage.entries))
	}
	loads = 0
	if c.daysOf(""); loads > 2 {
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

func FuzzShard(f *testing.F) {
	f.Add([]byte("shortlink days 1 2026-11-21 2026-11-24\na 10 1,,2\nb%20c 2 \nend 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := parseShard(b)
		if err != nil {
			return
		}
		again, err := parseShard(read.text())
		if err != nil || !bytes.Equal(again.text(), read.text()) {
			t.Errorf("%q is %+v, and written and read again %+v, %v", b, read, again, err)
		}
	})
}

func FuzzDayIndex(f *testing.F) {
	f.Add([]byte(`{"since":"2026-11-21T12:00:00Z","began":"2026-11-21T12:00:00Z",`+
		`"recorded":"2026-11-21","total":3,"days":{"2026-11-21":3},"top":[{"key":"a","n":3}],`+
		`"segments":[{"id":1,"first":"2026-11-21","last":"2026-11-21","bits":0}]}`), uint16(2500))
	f.Fuzz(func(t *testing.T, b []byte, today uint16) {
		read, err := parseDayIndex(b)
		if err != nil {
			return
		}
		text, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseDayIndex(text)
		if err != nil {
			t.Fatal(err)
		}
		if text2, err := json.Marshal(again); err != nil || !bytes.Equal(text, text2) {
			t.Errorf("%q is written as %q, and that as %q, %v", b, text, text2, err)
		}
		// What an entry says never breaks a server.
		storage := newDrawer()
		storage.entries["shortlink/hits/links/one/days/index"] = string(b)
		c := newCalendar(t, storage, "one", "a")
		c.at(int(today)-int(dayOf(noon)), 0)
		c.hit("a", 1)
		if read.newest().Bits <= 4 {
			c.mustKeep()
			c.daysOf("a")
			c.daysOf("")
		}
	})
}

// countingDrawer counts what is written of shards.
type countingDrawer struct {
	*drawer
	bytes int
}

func (s *countingDrawer) Store(ctx context.Context, key string, value []byte) error {
	if name := path.Base(key); name != "index" && name != "today" { // which are small
		s.bytes += len(value)
	}
	return s.drawer.Store(ctx, key, value)
}

// BenchmarkDays records days on which all keys are used. What a million of them write is counted up
// from fewer, as shards do not know of each other.
func BenchmarkDays(b *testing.B) {
	const keys, million = 1 << 11, 1_000_000
	var names []string
	for i := range keys {
		names = append(names, fmt.Sprintf("team%d/link%d", i%100, i))
	}
	for b.Loop() {
		storage := &countingDrawer{newDrawer(), 0}
		c := newCalendar(b, storage, "one", names...)
		c.store.shardKeys = 4096
		random := rand.New(rand.NewPCG(1, 1))
		most, sum := 0, 0
		for d := range DaysKept {
			c.at(d, 12)
			for n := range c.words {
				if c.ruleset.KeyOf(n) != "" {
					c.RulesetCounters.add(n, Count{1 + random.Uint64N(20), minuteOf(c.now)})
				}
			}
			storage.bytes = 0
			if err := c.store.recordDays(b.Context(), c.Counters, c.now); err != nil {
				b.Fatal(err)
			}
			most, sum = max(most, storage.bytes), sum+storage.bytes
		}
		inMiB := func(bytes int) float64 { return float64(bytes) * million / keys / (1 << 20) }
		b.ReportMetric(inMiB(sum/DaysKept), "MiB/day")
		b.ReportMetric(inMiB(most), "MiB/busiest-day")
	}
}
