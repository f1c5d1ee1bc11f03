package hits

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
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
	sum, servers := newHeader(noon, noon, dayOf(c.now)), []header{c.header()}
	addKey := func(server string, today *content) (err error) {
		l, err := c.store.lineOf(c.Context(), server, today, key)
		if server == c.store.server {
			l.advance(c.countOfKey(key), header{Date: dayOf(c.now)})
		}
		sum.addLine(l)
		return err
	}
	addHeader := func(_ string, today *content) error {
		servers = append(servers, today.header)
		return nil
	}
	var err error
	if key == "" {
		err = c.store.eachOther(c.Context(), addHeader)
	} else {
		err = errors.Join(addKey(c.store.server, new(content)),
			c.store.eachOther(c.Context(), addKey))
	}
	if err != nil {
		c.Fatal(err)
	}
	last := sum.list()
	if key == "" {
		last = summarize(servers, dayOf(c.now)).Days
	}
	days := map[int]uint64{}
	for _, d := range last {
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

// Whatever operation on the storage fails, whether a write is done then all the same, and whether
// the server goes on or is started anew.
func TestNoDayIsLostOrDoubledWhereverAServerIsGone(t *testing.T) {
	keys := []string{"a", "b", "c", "d"}
	run := func(failing int, restarted, isWritten bool) (operations int) {
		storage := newDrawer()
		storage.isLate = isWritten
		storage.fails = func(_, _ string) bool {
			operations++
			return operations == failing
		}
		c := newCalendar(t, storage, "one", keys...)
		want := map[string]map[int]uint64{"": {}}
		keep := func(d int) { // the hits of a day
			if c.keep() != nil {
				c.restartIf(restarted, keys...)
				c.mustKeep()
			}
			for _, key := range keys {
				if want[key] == nil {
					want[key] = map[int]uint64{}
				}
				n := c.countOfKey(key).N // a crash loses what was not saved
				for _, before := range want[key] {
					n -= before
				}
				if n > 0 {
					want[key][d] += n
					want[""][d] += n
				}
			}
		}
		for d := range 6 {
			c.at(d, 12)
			for i, key := range keys[:1+d%len(keys)] {
				c.hit(key, i+1)
			}
			keep(d)
			c.at(d, 23)
			c.hit(keys[d%2], 10) // which are not saved when the day is over
			c.at(d+1, 0)
			keep(d)
		}
		storage.fails = nil
		for key, days := range want {
			if got := c.daysOf(key); !maps.Equal(got, days) {
				t.Fatalf("operation %d fails, restarted: %v, written: %v: the days of %q are %v, want %v",
					failing, restarted, isWritten, key, got, days)
			}
		}
		return operations
	}
	all := run(0, false, false)
	for failing := range all {
		for _, isWritten := range []bool{false, true} {
			run(failing+1, false, isWritten)
			run(failing+1, true, isWritten)
		}
	}
}

// As TestNoDayIsLostOrDoubled, with days, restarts and failures as they come.
func TestWhateverHappensADayHasTheHitsThatWereStored(t *testing.T) {
	keys := []string{"a", "b", "c", "d", "e", "f"}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		storage := newDrawer()
		c := newCalendar(t, storage, "one", keys...)
		counted := map[string]map[int]uint64{"": {}}
		today := 0
		keep := func() {
			left := random.IntN(400)
			storage.fails = func(string, string) bool {
				left--
				return left == 0
			}
			if c.keep() != nil {
				c.restartIf(random.IntN(2) == 0, keys...)
			}
			storage.fails = nil
			c.mustKeep()
			for _, key := range keys { // a crash loses what was not stored
				if counted[key] == nil {
					counted[key] = map[int]uint64{}
				}
				lost := -c.countOfKey(key).N
				for _, n := range counted[key] {
					lost += n
				}
				counted[key][today] -= lost
				counted[""][today] -= lost
			}
		}
		for range 40 {
			for range random.IntN(4) {
				key, n := keys[random.IntN(len(keys))], 1+random.IntN(3)
				c.hit(key, n)
				if counted[key] == nil {
					counted[key] = map[int]uint64{}
				}
				counted[key][today] += uint64(n)
				counted[""][today] += uint64(n)
			}
			keep()
			if random.IntN(3) > 0 {
				continue
			}
			today += 1 + random.IntN(3)
			c.at(today, 0)
			c.restartIf(random.IntN(3) == 0, keys...) // it was off over midnight
			keep()
			c.at(today, 12)
		}
		for key, want := range counted {
			maps.DeleteFunc(want, func(d int, n uint64) bool { return n == 0 || d <= today-DaysKept })
			if got := c.daysOf(key); !maps.Equal(got, want) {
				t.Fatalf("seed %d: the days of %q are %v, want %v", seed, key, got, want)
			}
		}
	}
}

func (c *calendar) restartIf(isRestarted bool, keys ...string) {
	if isRestarted {
		c.restart(keys...)
	}
}

func TestAnotherStorageGetsTotalsWhereverAServerIsGone(t *testing.T) {
	keys := []string{"a", "b", "c"}
	run := func(failing int, restarted bool) (operations int) {
		c := newCalendar(t, newDrawer(), "one", keys...)
		c.hit("a", 3)
		c.mustKeep()
		c.at(1, 9)
		c.mustKeep()
		c.hit("b", 4)
		c.mustKeep()
		storage := newDrawer()
		storage.fails = func(string, string) bool {
			operations++
			return operations == failing
		}
		c.storage = storage
		c.store.use(storage, zap.NewNop())
		hasFailed := c.keep() != nil
		storage.fails = nil
		if hasFailed {
			c.restartIf(restarted && len(storage.entries) > 0, keys...)
			c.mustKeep()
		}
		c.hit("a", 2)
		c.mustKeep()
		c.at(2, 0)
		c.restart(keys...)
		c.mustKeep()
		wantCounts(t, c.Counters, map[string]uint64{"a": 5, "b": 4})
		c.want("a", map[int]uint64{1: 2}) // what was in another storage is of no day
		c.want("b", map[int]uint64{})
		c.want("", map[int]uint64{1: 2})
		return operations
	}
	all := run(0, false)
	for failing := 1; failing <= all && !t.Failed(); failing++ {
		run(failing, failing%2 == 0)
		run(failing, failing%2 == 1)
	}
}

func TestOtherServersSeeTheSameWhileADayIsRecorded(t *testing.T) {
	keys := []string{"a", "b", "c", "d"}
	storage := newDrawer()
	one, two := newCalendar(t, storage, "one", keys...), newCalendar(t, storage, "two", keys...)
	for d := range 2 {
		one.at(d, 0)
		one.mustKeep()
		for i, key := range keys {
			one.hit(key, i+1)
		}
		one.mustKeep()
	}
	one.at(2, 0)
	two.at(2, 0)
	failing := 1
	for isRecorded := false; !isRecorded; failing++ {
		left := failing
		storage.fails = func(string, string) bool {
			left--
			return left == 0
		}
		isRecorded = one.keep() == nil
		storage.fails = nil
		for i, key := range keys {
			two.want(key, map[int]uint64{0: uint64(i + 1), 1: uint64(i + 1)})
		}
		two.want("", map[int]uint64{0: 10, 1: 10})
	}
	if failing < shards {
		t.Errorf("%d operations have failed", failing)
	}
}

func TestAKeyThatWasForgottenCountsAnew(t *testing.T) {
	c := newCalendar(t, newDrawer(), "one", "a", "b")
	swap := func(keys ...string) {
		before := c.RulesetCounters
		c.RulesetCounters = c.Begin(rulesetOf(t, keys...))
		c.Retire(before, nil)
	}
	c.hit("a", 9)
	c.mustKeep()
	c.at(1, 0)
	c.mustKeep()
	swap("b")
	delete(c.unserved, "a") // as if there were too many
	c.at(2, 0)
	c.mustKeep()
	swap("a", "b")
	c.hit("a", 4)
	c.mustKeep()
	want := map[int]uint64{0: 9, 2: 4}
	c.want("a", want)
	c.at(3, 0)
	c.mustKeep()
	c.want("a", want)
	c.restart("a", "b")
	c.mustKeep()
	c.want("a", want)
	wantCounts(t, c.Counters, map[string]uint64{"a": 4})
}

// As it can happen if the storage fails while they are many.
func TestAKeyThatIsForgottenWhileADayIsRecordedCountsOnce(t *testing.T) {
	storage := newDrawer()
	c := newCalendar(t, storage, "one", "a", "b")
	c.hit("a", 9)
	c.mustKeep()
	c.at(1, 0)
	storage.fails = func(operation, key string) bool {
		return operation == "store" && strings.HasSuffix(key, "/today")
	}
	if c.keep() == nil {
		t.Fatal("the day is recorded")
	}
	before := c.RulesetCounters
	c.RulesetCounters = c.Begin(rulesetOf(t, "b"))
	c.Retire(before, nil)
	delete(c.unserved, "a")
	storage.fails = nil
	c.mustKeep()
	c.want("a", map[int]uint64{0: 9})
}

func TestAKeyThatIsNotUsedForLongKeepsItsTotal(t *testing.T) {
	storage := newDrawer()
	c := newCalendar(t, storage, "one", "a", "b")
	c.hit("a", 3)
	for d := range 2 * DaysKept {
		c.at(d, 0)
		c.mustKeep()
		c.hit("b", 1)
	}
	c.mustKeep()
	c.restart("a", "b")
	c.mustKeep()
	wantCounts(t, c.Counters, map[string]uint64{"a": 3, "b": 2 * DaysKept})
	line := fmt.Sprintf("\na 3 %d\n", minuteOf(noon))
	if got := storage.entries[shardEntry("a")]; !strings.Contains(got, line) {
		t.Errorf("its shard is %q", got)
	}
	if n := len(c.daysOf("b")); n != DaysKept {
		t.Errorf("b has %d days", n)
	}
}

func TestEachMinuteOnlyWhatHasChangedTodayIsStored(t *testing.T) {
	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprint("key", i))
	}
	storage := newDrawer()
	c := newCalendar(t, storage, "one", keys...)
	for _, key := range keys {
		c.hit(key, 1)
	}
	c.mustKeep()
	for d := 1; d < 3; d++ {
		c.at(d, 0)
		c.mustKeep()
		for minute := range 3 {
			storage.stores = 0
			c.hit("key7", 1)
			c.hit(fmt.Sprint("key", minute), 1)
			c.mustKeep()
			today := storage.entries["shortlink/hits/links/one/today"]
			if n := strings.Count(today, "\nkey"); n != minute+2 || storage.stores != 1 {
				t.Errorf("%d keys are stored, and %d entries", n, storage.stores)
			}
		}
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
	c.mustKeep()
	c.at(300, 9)
	c.restart("a", "b") // which was off for 100 days
	c.mustKeep()
	c.hit("b", 6)
	c.want("b", map[int]uint64{300: 6})
	c.want("", map[int]uint64{300: 6})
	wantCounts(t, c.Counters, map[string]uint64{"a": 7, "b": 10})
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
	for _, damaged := range []string{"", "{}", "shortlink hits 3 x",
		"shortlink hits 2 {}\na 1 1\nend 2\n"} {
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
		two := newCalendar(t, storage, "two", "a", "b")
		two.at(1, 12)
		two.want("a", map[int]uint64{})
		two.want("b", map[int]uint64{0: 1})
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

func TestHitsUnderAWrongClockCount(t *testing.T) {
	for name, tt := range map[string]struct {
		days []int // as the clock shows them
		want map[int]uint64
	}{
		// Hits count when the clock is right again.
		"ahead":     {[]int{0, 1, 11, 2, 3}, map[int]uint64{0: 1, 1: 1, 2: 2, 3: 1}},
		"far ahead": {[]int{0, 1, 1001, 2, 3}, map[int]uint64{2: 2, 3: 1}},
		"behind":    {[]int{0, 7, 4, 8, 9}, map[int]uint64{0: 1, 4: 2, 8: 1, 9: 1}},
		"not set":   {[]int{0, 1, -9000, 2, 3}, map[int]uint64{0: 1, 1: 2, 2: 1, 3: 1}},
	} {
		for _, restarted := range []bool{false, true} {
			c := newCalendar(t, newDrawer(), "one", "a", "b")
			for _, d := range tt.days {
				c.at(d, 1)
				c.restartIf(restarted, "a", "b")
				c.mustKeep()
				c.at(d, 2)
				c.hit("a", 1)
				c.mustKeep()
			}
			c.restart("a", "b")
			c.mustKeep()
			wantCounts(t, c.Counters, map[string]uint64{"a": 5})
			if got := c.daysOf("a"); !maps.Equal(got, tt.want) {
				t.Errorf("%s, restarted: %v: the days are %v, want %v", name, restarted, got, tt.want)
			}
		}
	}
}

func TestHitsBeforeADayIsRecordedAreOfIt(t *testing.T) {
	c := newCalendar(t, newDrawer(), "one", "a", "b")
	c.hit("a", 5)
	c.mustKeep()
	c.at(1, 0)
	c.hit("a", 1)
	c.mustKeep()
	c.hit("a", 2)
	c.mustKeep()
	c.at(2, 0)
	c.mustKeep()
	c.want("a", map[int]uint64{0: 6, 1: 2})
	c.want("", map[int]uint64{0: 6, 1: 2})
}

func TestAKeyWhoseCaseDoesNotMatterAnyMoreKeepsItsTotal(t *testing.T) {
	c := newCalendar(t, newDrawer(), "one", "Docs")
	c.hit("Docs", 5)
	c.mustKeep()
	folded, err := resolver.Compile([]resolver.Rule{{Key: "Docs", Value: "https://example.com"}},
		resolver.Options{FoldCase: true})
	if err != nil {
		t.Fatal(err)
	}
	for d := range 3 {
		c.restart("other")
		before := c.RulesetCounters
		c.RulesetCounters = c.Begin(folded)
		c.Retire(before, nil)
		c.at(d, 1)
		c.mustKeep()
		wantCounts(t, c.Counters, map[string]uint64{"docs": 5})
	}
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
	if c.daysOf("k7"); loads > 1 {
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
