package hits

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
)

// oldStorage is what version 1 of the format has stored of the server "one" until an afternoon, and
// what it has told of it.
type oldStorage struct {
	Entries map[string]string            `json:"entries"`
	Totals  map[string]uint64            `json:"totals"`
	Days    map[string]map[string]uint64 `json:"days"` // by key, "" for all; by date
}

func readOldStorage(t testing.TB) *oldStorage {
	t.Helper()
	b, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	old := new(oldStorage)
	if err := json.Unmarshal(b, old); err != nil {
		t.Fatal(err)
	}
	return old
}

// day is when it was stored, as a number of days after noon.
const oldDay = 15

func (old *oldStorage) drawer() *drawer {
	return &drawer{entries: maps.Clone(old.Entries)}
}

func (old *oldStorage) keys() []string { return slices.Sorted(maps.Keys(old.Totals)) }

// daysOf returns the days of a key, by how long they are after the first.
func (old *oldStorage) daysOf(t *testing.T, key string) map[int]uint64 {
	t.Helper()
	days := map[int]uint64{}
	for text, n := range old.Days[key] {
		var d day
		if err := d.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		days[int(d-dayOf(noon))] = n
	}
	return days
}

// wantDays looks at the days of all keys.
func (old *oldStorage) wantDays(t *testing.T, c *calendar) {
	t.Helper()
	for key := range old.Days {
		c.want(key, old.daysOf(t, key))
	}
}

func TestWhatAnOlderVersionStoredIsConverted(t *testing.T) {
	old := readOldStorage(t)
	for name, start := range map[string]int{"on the same day": oldDay, "days later": oldDay + 3} {
		t.Run(name, func(t *testing.T) {
			storage := old.drawer()
			c := newCalendar(t, storage, "one", old.keys()...)
			c.at(start, 16)
			c.mustKeep()
			for range 2 {
				wantCounts(t, c.Counters, old.Totals)
				old.wantDays(t, c)
				c.restart(old.keys()...)
				c.mustKeep()
			}
			if top := c.top(); len(top) != min(topKeys, len(old.Totals)) || top[0].Key != "k36" {
				t.Errorf("used most are %v", top)
			}
			for entry := range storage.entries {
				if _, wasThere := old.Entries[entry]; wasThere {
					t.Errorf("%s is still there", entry)
				}
			}
			c.hit("k1", 5)
			c.at(start+1, 0)
			c.mustKeep()
			days := c.daysOf("k1")
			if before := old.Days["k1"]["2026-12-06"]; start == oldDay && days[start] != before+5 ||
				start != oldDay && days[start] != 5 {
				t.Errorf("the days are %v", days)
			}
		})
	}
}

// Whatever operation on the storage fails, and whether the server goes on or is started anew then.
func TestNothingIsLostOrDoubledWhereverAConversionIsStopped(t *testing.T) {
	old := readOldStorage(t)
	run := func(failing int, restarted bool) (operations int) {
		storage := old.drawer()
		storage.fails = func(string, string) bool {
			operations++
			return operations == failing
		}
		c := newCalendar(t, storage, "one", old.keys()...)
		c.at(oldDay, 16)
		c.hit("k1", 2)
		if c.keep() != nil {
			if restarted {
				c.restart(old.keys()...)
			}
			c.mustKeep()
		}
		storage.fails = nil
		new := c.countOfKey("k1").N - old.Totals["k1"] // a crash may have lost it
		for range 2 {
			want := maps.Clone(old.Totals)
			want["k1"] += new
			wantCounts(t, c.Counters, want)
			for _, key := range []string{"", "k1", "k36", "t/{1}"} {
				want := old.daysOf(t, key)
				if key == "" || key == "k1" {
					want[oldDay] += new
				}
				c.want(key, want)
			}
			if t.Failed() {
				t.Fatalf("as operation %d fails, restarted: %v", failing, restarted)
			}
			c.restart(old.keys()...)
			c.mustKeep()
		}
		return operations
	}
	all := run(0, false)
	for failing := 1; failing <= all; failing += 7 {
		run(failing, failing%2 == 0)
	}
}

func TestWhatWasCountedBeforeThereWereDaysIsOfNone(t *testing.T) {
	storage := newDrawer()
	const all = "shortlink/hits/links/one/all"
	storage.entries[all] = "shortlink hits 1 5 2026-11-21T12:00:00Z\na 1 3622320\nb 1 3622320\nend 2\n"
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
	wantCounts(t, c.Counters, map[string]uint64{"a": 3, "b": 1})
	want := noon.AddDate(0, 0, 5).Truncate(24 * time.Hour).Add(9 * time.Hour)
	if began := c.header().Began; !began.Equal(want) {
		t.Errorf("days began %v", began)
	}
}

func TestWhatAnotherServerOfAnOlderVersionStoredIsLeftToIt(t *testing.T) {
	old := readOldStorage(t)
	storage := old.drawer()
	c := newCalendar(t, storage, "two", old.keys()...)
	c.at(oldDay, 16)
	c.mustKeep()
	if others, err := c.store.others(t.Context(), c.ruleset); err != nil || others.counts != nil {
		t.Errorf("it has counted %v, %v", others, err)
	}
	if !maps.Equal(storage.entries, old.Entries) {
		t.Error("its entries are not as they were")
	}
}

// A server may be set back to an older version, which counts anew.
func TestWhatAnOlderVersionStoredLaterIsDeletedAndNotCounted(t *testing.T) {
	old := readOldStorage(t)
	for _, today := range []string{"as it was", "damaged"} {
		storage := old.drawer()
		c := newCalendar(t, storage, "one", old.keys()...)
		c.at(oldDay, 16)
		c.mustKeep()
		maps.Copy(storage.entries, old.Entries)
		if today == "damaged" {
			storage.entries["shortlink/hits/links/one/today"] = today
		}
		c.at(oldDay+1, 16)
		c.restart(old.keys()...)
		c.mustKeep()
		wantCounts(t, c.Counters, old.Totals)
		for entry := range storage.entries {
			if _, isOld := old.Entries[entry]; isOld {
				t.Errorf("%s: %s is still there", today, entry)
			}
		}
	}
}

func TestAnEntryOfAnOlderVersionThatCannotBeReadIsPutAside(t *testing.T) {
	for _, name := range []string{"all", "changes", "days/index", "days/5/7"} {
		old := readOldStorage(t)
		storage := old.drawer()
		entry := "shortlink/hits/links/one/" + name
		storage.entries[entry] = "damaged"
		c := newCalendar(t, storage, "one", old.keys()...)
		c.at(oldDay, 16)
		c.mustKeep()
		if c.countOfKey("k36").N == 0 {
			t.Errorf("without %s nothing is counted", name)
		}
		storage.wantAside(t, "damaged")
	}
}

func FuzzOldEntries(f *testing.F) {
	names := []string{"all", "days/index", "days/1/0"}
	f.Add("shortlink hits 1 5 2026-11-21T12:00:00Z\na 1 3622320\nend 1\n",
		`{"since":"2026-11-21T12:00:00Z","began":"2026-11-21T12:00:00Z","recorded":"2026-11-21",`+
			`"days":{"2026-11-21":3},"top":[{"key":"a","n":3}],"segments":[{"id":1,"bits":0}]}`,
		"shortlink days 1 2026-11-21 2026-11-24\na 10 1,,2\nb%20c 2 \nend 2\n", uint16(2500))
	f.Fuzz(func(t *testing.T, all, index, shard string, at uint16) {
		storage := newDrawer()
		for i, content := range []string{all, index, shard} {
			storage.entries["shortlink/hits/links/one/"+names[i]] = content
		}
		c := newCalendar(t, storage, "one", "a")
		c.store.logger = zap.NewNop()
		c.at(int(at)-int(dayOf(noon)), 0)
		c.hit("a", 1)
		c.mustKeep()
		c.daysOf("a")
		c.daysOf("")
		stored := c.counts()
		c.restart("a")
		c.mustKeep()
		wantCounts(t, c.Counters, stored)
	})
}
