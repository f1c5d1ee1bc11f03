package shortlink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func rulesetOf(t testing.TB, keys ...string) *resolver.Ruleset {
	t.Helper()
	var rules []resolver.Rule
	for _, key := range keys {
		rules = append(rules, resolver.Rule{Key: key, Value: "https://example.com"})
	}
	rs, err := resolver.Compile(rules, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// hitKey counts a hit of a key.
func (c *counted) hitKey(t testing.TB, key string) {
	t.Helper()
	n, ok := c.ruleset.NumberOf(key)
	if !ok {
		t.Fatalf("there is no key %s", key)
	}
	c.hit(n)
}

// counts returns the counts of all keys.
func (h *hits) counts() map[string]uint64 {
	all := map[string]uint64{}
	h.each(false, func(key string, m hit, _ bool) { all[key] += m.count })
	return all
}

func wantCounts(t *testing.T, h *hits, want map[string]uint64) {
	t.Helper()
	if got := h.counts(); !maps.Equal(got, want) {
		t.Errorf("the counts are %v, want %v", got, want)
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestAHitCountsAndRemembersItsMinute(t *testing.T) {
	h := newHits(noon)
	c := h.begin(rulesetOf(t, "a", "b"))
	c.hitKey(t, "a")
	c.hitKey(t, "a")
	h.tick(noon.Add(90 * time.Second))
	c.hitKey(t, "b")
	if m := h.of("a"); m.count != 2 || !m.time().Equal(noon) {
		t.Errorf("a has %+v", m)
	}
	if m := h.of("b"); m.count != 1 || !m.time().Equal(noon.Add(time.Minute)) {
		t.Errorf("b has %+v", m)
	}
	c.hitKey(t, "a")
	if m := h.of("a"); m.count != 3 || !m.time().Equal(noon.Add(time.Minute)) {
		t.Errorf("a has %+v", m)
	}
}

func TestHitsStayWithTheirKeyOverSwaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHits(noon)
		old := h.begin(rulesetOf(t, "a", "b", "gone"))
		for _, key := range []string{"a", "b", "b", "gone"} {
			old.hitKey(t, key)
		}
		next := h.begin(rulesetOf(t, "b", "a", "new"))
		h.end(old, nil)
		old.hitKey(t, "a") // by a request that is late
		next.hitKey(t, "a")
		time.Sleep(2 * lateness)
		wantCounts(t, h, map[string]uint64{"a": 3, "b": 2, "gone": 1})
		again := h.begin(rulesetOf(t, "gone", "a"))
		h.end(next, nil)
		again.hitKey(t, "gone")
		wantCounts(t, h, map[string]uint64{"a": 3, "b": 2, "gone": 2})
		if m := h.of("gone"); m.count != 2 {
			t.Errorf("gone has %+v", m)
		}
		time.Sleep(2 * lateness)
	})
}

func TestRulesetsOfOneNameCountTogether(t *testing.T) {
	h := newHits(noon)
	one, two := h.begin(rulesetOf(t, "a", "b")), h.begin(rulesetOf(t, "b", "c"))
	one.hitKey(t, "b")
	two.hitKey(t, "b")
	two.hitKey(t, "c")
	wantCounts(t, h, map[string]uint64{"b": 2, "c": 1})
	if m := h.of("b"); m.count != 2 {
		t.Errorf("b has %+v", m)
	}
}

// Under the race detector, too: requests count while rules are swapped and hits are saved.
func TestNoHitIsLostWhileRulesAreSwappedAndHitsAreSaved(t *testing.T) {
	h := newHits(noon)
	serving := make(chan *counted, 1)
	serving <- h.begin(rulesetOf(t, "a", "b"))
	const each = 5000
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for range each {
				c := <-serving
				serving <- c
				c.hitKey(t, "a")
			}
		})
	}
	for i := range 20 {
		next := h.begin(rulesetOf(t, "a", fmt.Sprint("other", i)))
		old := <-serving
		serving <- next
		h.end(old, nil)
		h.each(i%2 == 0, func(string, hit, bool) {})
	}
	requests.Wait()
	h.settle()
	if m := h.of("a"); m.count != 4*each {
		t.Errorf("%d hits of %d are counted", m.count, 4*each)
	}
}

func TestOfKeysThatAreGoneTheOldestAreForgotten(t *testing.T) {
	h := newHits(noon)
	for i := range mostGone + 1 {
		h.give(fmt.Sprint("k", i), hit{1, uint32(i)})
	}
	h.forgetOldest()
	if len(h.gone) > mostGone || h.gone["k0"].count != 0 || h.gone[fmt.Sprint("k", mostGone)].count != 1 {
		t.Errorf("%d keys are remembered", len(h.gone))
	}
}

// drawer is a storage in memory whose writes can be made to fail.
type drawer struct {
	certmagic.Storage
	mu      sync.Mutex
	entries map[string]string
	stores  int
	fails   func(operation, key string) bool
}

func newDrawer() *drawer { return &drawer{entries: map[string]string{}} }

// written returns how often an entry has been stored.
func (s *drawer) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stores
}

func (s *drawer) check(operation, key string) error {
	if s.fails != nil && s.fails(operation, key) {
		return errors.New("the network is cut")
	}
	return nil
}

func (s *drawer) Load(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("load", key); err != nil {
		return nil, err
	}
	entry, ok := s.entries[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(entry), nil
}

func (s *drawer) Store(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("store", key); err != nil {
		return err
	}
	s.stores++
	s.entries[key] = string(value)
	return nil
}

func (s *drawer) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("delete", key); err != nil {
		return err
	}
	if _, ok := s.entries[key]; !ok {
		return fs.ErrNotExist
	}
	delete(s.entries, key)
	return nil
}

func (s *drawer) List(_ context.Context, prefix string, _ bool) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	servers := map[string]bool{}
	for key := range s.entries {
		if strings.HasPrefix(key, prefix+"/") {
			servers[path.Dir(key)] = true
		}
	}
	return slices.Collect(maps.Keys(servers)), nil
}

// serverWith returns the hits of a server that has just started, and their store.
func serverWith(t *testing.T, storage certmagic.Storage, server string, keys ...string) (*hits, *counted, *hitStore) {
	t.Helper()
	h := newHits(noon)
	c := h.begin(rulesetOf(t, keys...))
	s := &hitStore{shelf: &shelf{storage, zap.NewNop()}, prefix: "shortlink/hits/links", server: server}
	if err := s.restore(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	return h, c, s
}

func (s *hitStore) mustSave(t *testing.T, h *hits, whole bool) {
	t.Helper()
	if err := s.save(t.Context(), h, whole); err != nil {
		t.Fatal(err)
	}
}

func TestHitsAreKeptOverARestart(t *testing.T) {
	storage := newDrawer()
	keys := []string{"a", "b", "c", "d", "e"}
	h, c, s := serverWith(t, storage, "one", keys...)
	for _, key := range keys {
		c.hitKey(t, key)
	}
	s.mustSave(t, h, false)
	h.tick(noon.Add(time.Hour))
	c.hitKey(t, "a")
	s.mustSave(t, h, false) // which writes what has changed
	h, c, s = serverWith(t, storage, "one", keys...)
	wantCounts(t, h, map[string]uint64{"a": 2, "b": 1, "c": 1, "d": 1, "e": 1})
	if m := h.of("a"); !m.time().Equal(noon.Add(time.Hour)) {
		t.Errorf("a was hit at %v", m.time())
	}
	c.hitKey(t, "a")
	s.mustSave(t, h, true)
	h, _, _ = serverWith(t, storage, "one", "a", "other")
	wantCounts(t, h, map[string]uint64{"a": 3, "b": 1, "c": 1, "d": 1, "e": 1})
}

func TestNothingIsWrittenWhereNothingWasHit(t *testing.T) {
	storage := newDrawer()
	h, c, s := serverWith(t, storage, "one", "a", "b", "c")
	s.mustSave(t, h, false)
	if storage.stores != 0 {
		t.Errorf("%d entries are written before any hit", storage.stores)
	}
	c.hitKey(t, "a")
	c.hitKey(t, "b")
	c.hitKey(t, "c")
	s.mustSave(t, h, false)
	c.hitKey(t, "a")
	s.mustSave(t, h, false)
	before := storage.stores
	s.mustSave(t, h, false)
	s.mustSave(t, h, true)
	if storage.stores != before {
		t.Errorf("%d entries are written without a hit", storage.stores-before)
	}
}

// Whatever operation on the storage fails, and whether the server goes on or is started anew then, no hit that was
// saved is lost, and none counts twice.
func TestAServerThatIsGoneBetweenTwoWritesLosesAndDoublesNothing(t *testing.T) {
	keys := []string{"a", "b", "c", "d", "e", "f"}
	for failing := 1; failing < 40; failing++ {
		for _, restarted := range []bool{false, true} {
			storage := newDrawer()
			operations := 0
			storage.fails = func(operation, _ string) bool {
				operations++
				return operations == failing && operation != "load"
			}
			h, c, s := serverWith(t, storage, "one", keys...)
			hit, saved := map[string]uint64{}, map[string]uint64{}
			for round := range 12 {
				for _, key := range keys[:1+round%len(keys)] {
					c.hitKey(t, key)
					hit[key]++
				}
				err := s.save(t.Context(), h, round%5 == 4)
				if err == nil {
					saved = maps.Clone(hit)
				} else if restarted {
					h, c, s = serverWith(t, storage, "one", keys...)
					for key, n := range h.counts() {
						if n < saved[key] || n > hit[key] {
							t.Fatalf("operation %d fails: %s has %d hits, of which %d were saved, of %d", failing, key, n, saved[key], hit[key])
						}
					}
					hit = h.counts()
				}
			}
			s.mustSave(t, h, true)
			h, _, _ = serverWith(t, storage, "one", keys...)
			wantCounts(t, h, hit)
		}
	}
}

func TestAnEntryThatCannotBeReadIsPutAside(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"cut off": func(s string) string { return s[:len(s)-3] },
		"no end":  func(s string) string { return s[:strings.LastIndexByte(strings.TrimSuffix(s, "\n"), '\n')+1] },
		"a line less": func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return lines[0] + strings.Join(lines[2:], "")
		},
		"another": func(string) string { return "{}" },
		"empty":   func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			storage := newDrawer()
			h, c, s := serverWith(t, storage, "one", "a", "b")
			c.hitKey(t, "a")
			c.hitKey(t, "b")
			s.mustSave(t, h, true)
			const entry = "shortlink/hits/links/one/all"
			damaged := damage(storage.entries[entry])
			storage.entries[entry] = damaged
			h, c, s = serverWith(t, storage, "one", "a", "b")
			wantCounts(t, h, map[string]uint64{})
			aside := ""
			for key, value := range storage.entries {
				if strings.HasPrefix(key, entry+".unreadable-") {
					aside = value
				}
			}
			if aside != damaged {
				t.Errorf("put aside is %q", aside)
			}
			c.hitKey(t, "a")
			s.mustSave(t, h, true)
			h, _, _ = serverWith(t, storage, "one", "a", "b")
			wantCounts(t, h, map[string]uint64{"a": 1})
		})
	}
}

func TestAStorageThatCannotBeReadIsNotOverwritten(t *testing.T) {
	storage := newDrawer()
	h, c, s := serverWith(t, storage, "one", "a")
	for range 5 {
		c.hitKey(t, "a")
	}
	s.mustSave(t, h, true)
	storage.fails = func(operation, _ string) bool { return operation == "load" }
	h = newHits(noon)
	c = h.begin(rulesetOf(t, "a"))
	s = &hitStore{shelf: &shelf{storage, zap.NewNop()}, prefix: s.prefix, server: "one"}
	if err := s.restore(t.Context(), h); err == nil {
		t.Error("what cannot be read is restored")
	}
	c.hitKey(t, "a")
	if err := s.save(t.Context(), h, true); err == nil {
		t.Error("what is stored is overwritten")
	}
	storage.fails = nil
	if err := s.restore(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, h, map[string]uint64{"a": 6})
}

func TestTheHitsOfOtherServersAreAddedUp(t *testing.T) {
	storage := newDrawer()
	for _, server := range []string{"one", "two", "three"} {
		h, c, s := serverWith(t, storage, server, "a", server)
		c.hitKey(t, "a")
		c.hitKey(t, server)
		s.mustSave(t, h, true)
	}
	_, _, s := serverWith(t, storage, "one", "a")
	sum, since, err := s.others(t.Context())
	if err != nil || sum["a"].count != 2 || sum["two"].count != 1 || sum["one"].count != 0 || !since.Equal(noon) {
		t.Errorf("got %v since %v, %v", sum, since, err)
	}
}

func TestAnotherStorageGetsAllHits(t *testing.T) {
	h, c, s := serverWith(t, newDrawer(), "one", "a", "b", "c")
	c.hitKey(t, "a")
	s.mustSave(t, h, true)
	other := newDrawer()
	s.use(&shelf{other, zap.NewNop()})
	s.mustSave(t, h, false)
	h, _, _ = serverWith(t, other, "one", "a")
	wantCounts(t, h, map[string]uint64{"a": 1})
}

func TestAnEntryOfAnotherServerThatCannotBeReadIsLeftAlone(t *testing.T) {
	storage := newDrawer()
	h, c, s := serverWith(t, storage, "one", "a")
	c.hitKey(t, "a")
	s.mustSave(t, h, true)
	const entry = "shortlink/hits/links/two/all"
	storage.entries[entry] = "shortlink hits 2 of another version"
	if sum, _, err := s.others(t.Context()); err != nil || len(sum) != 0 || storage.entries[entry] == "" {
		t.Errorf("got %v, %v, and the entry is %q", sum, err, storage.entries[entry])
	}
}

func TestTwoSwapsShortlyAfterEachOtherLoseNoLateHit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHits(noon)
		one := h.begin(rulesetOf(t, "a"))
		two := h.begin(rulesetOf(t, "a"))
		h.end(one, nil)
		time.Sleep(lateness - time.Millisecond)
		h.begin(rulesetOf(t, "a"))
		h.end(two, nil)
		time.Sleep(2 * time.Millisecond) // the first is settled
		two.hitKey(t, "a")               // by a request that is late
		time.Sleep(2 * lateness)
		wantCounts(t, h, map[string]uint64{"a": 1})
	})
}

func TestHitsAreStoredEveryMinuteAndWhenTheLastHandlerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := newDrawer()
		tally := newTally("links")
		c := tally.hits.begin(rulesetOf(t, "a", "b"))
		tally.keep(storage, zap.NewNop())
		c.hitKey(t, "a")
		time.Sleep(saveInterval + time.Second)
		if storage.written() == 0 {
			t.Error("nothing is stored after a minute")
		}
		time.Sleep(time.Hour)
		c.hitKey(t, "b")
		if m := tally.hits.of("b"); time.Since(m.time()) > 2*time.Minute {
			t.Errorf("b was hit at %v", m.time())
		}
		next := tally.hits.begin(rulesetOf(t, "a", "b"))
		tally.hits.end(c, nil)
		c.hitKey(t, "a") // by a request that is late
		if err := tally.Destruct(); err != nil {
			t.Fatal(err)
		}
		next.hitKey(t, "b") // which is too late
		stored := newTally("links")
		stored.hits.begin(rulesetOf(t, "a", "b"))
		stored.keep(storage, zap.NewNop())
		synctest.Wait()
		wantCounts(t, stored.hits, map[string]uint64{"a": 2, "b": 1})
		if err := stored.Destruct(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lateness)
	})
}

func TestUnusedRulesAreThoseThatNobodyHasNeededForSoLong(t *testing.T) {
	rs, err := resolver.Compile([]resolver.Rule{
		{Key: "used", Value: "/through"}, {Key: "through", Value: "https://example.com"},
		{Key: "old", Value: "https://example.com"}, {Key: "never", Value: "https://example.com"},
	}, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tally := newTally("links")
	tally.hits = newHits(noon)
	c := tally.hits.begin(rs)
	c.hitKey(t, "old")
	tally.hits.tick(noon.Add(100 * 24 * time.Hour))
	c.hitKey(t, "used")
	h := &Handler{live: &live{tally: tally}}
	for name, tt := range map[string]struct {
		cutoff time.Time
		want   []string
	}{
		"a short time": {noon.Add(99 * 24 * time.Hour), []string{"never", "old"}},
		"a long time":  {noon.Add(-time.Hour), []string{"never"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := hitList{handler: h, ruleset: rs, since: tally.hits.begun()}
			l.hideUsed(tt.cutoff)
			var got []string
			for rule := range rs.RulesBelow("", nil) {
				if n, _ := rs.NumberOf(rule.Key); !l.used[n] {
					got = append(got, rule.Key)
				}
			}
			if !slices.Equal(got, tt.want) || (l.note != "") != tt.cutoff.Before(noon) {
				t.Errorf("unused are %q, and the note is %q", got, l.note)
			}
		})
	}
}

func FuzzHitFile(f *testing.F) {
	f.Add([]byte("shortlink hits 1 5 2026-11-21T12:00:00Z\na 1 100\nb%20c 2 200\nend 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		read, err := decodeHitFile(b)
		if err != nil {
			return
		}
		w := newHitFileWriter(read.generation, read.since)
		for key, m := range read.hits {
			w.add(key, m)
		}
		again, err := decodeHitFile(w.end())
		if err != nil || again.generation != read.generation || !again.since.Equal(read.since) || !maps.Equal(again.hits, read.hits) {
			t.Fatalf("%q is %+v, and written and read again %+v, %v", b, read, again, err)
		}
	})
}
