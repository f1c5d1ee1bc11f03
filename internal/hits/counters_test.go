package hits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
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
	rs, err := resolver.Compile(rules, resolver.Options{NoLines: true})
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// hitKey counts a hit of a key.
func (c *RulesetCounters) hitKey(t testing.TB, key string) {
	t.Helper()
	n, ok := c.ruleset.NumberOf(key)
	if !ok {
		t.Fatalf("there is no key %s", key)
	}
	c.Count(n)
}

// counts returns the counts of all keys.
func (h *Counters) counts() map[string]uint64 {
	all := map[string]uint64{}
	h.each(selection{}, func(key string, m Count) { all[key] += m.N })
	return all
}

func wantCounts(t *testing.T, h *Counters, want map[string]uint64) {
	t.Helper()
	if got := h.counts(); !maps.Equal(got, want) {
		t.Errorf("the counts are %v, want %v", got, want)
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestAHitCountsAndRemembersItsMinute(t *testing.T) {
	h := NewCounters(noon)
	c := h.Begin(rulesetOf(t, "a", "b"))
	c.hitKey(t, "a")
	c.hitKey(t, "a")
	h.tick(noon.Add(90 * time.Second))
	c.hitKey(t, "b")
	if m := h.countOfKey("a"); m.N != 2 || !m.Time().Equal(noon) {
		t.Errorf("a has %+v", m)
	}
	if m := h.countOfKey("b"); m.N != 1 || !m.Time().Equal(noon.Add(time.Minute)) {
		t.Errorf("b has %+v", m)
	}
	c.hitKey(t, "a")
	if m := h.countOfKey("a"); m.N != 3 || !m.Time().Equal(noon.Add(time.Minute)) {
		t.Errorf("a has %+v", m)
	}
}

func TestHitsStayWithTheirKeyOverSwaps(t *testing.T) {
	h := NewCounters(noon)
	old := h.Begin(rulesetOf(t, "a", "b", "gone"))
	for _, key := range []string{"a", "b", "b", "gone"} {
		old.hitKey(t, key)
	}
	next := h.Begin(rulesetOf(t, "b", "a", "new"))
	h.Retire(old, nil)
	h.tick(noon.Add(time.Hour))
	old.hitKey(t, "a") // by a request that is late
	wantCounts(t, h, map[string]uint64{"a": 2, "b": 2, "gone": 1})
	if m := h.countOfKey("a"); !m.Time().Equal(noon.Add(time.Hour)) {
		t.Errorf("a was hit at %v", m.Time())
	}
	next.hitKey(t, "a")
	again := h.Begin(rulesetOf(t, "gone", "a"))
	h.Retire(next, nil)
	again.hitKey(t, "gone")
	wantCounts(t, h, map[string]uint64{"a": 3, "b": 2, "gone": 2})
	if m := h.countOfKey("gone"); m.N != 2 {
		t.Errorf("gone has %+v", m)
	}
}

// with derives a ruleset in which keys are set, and those with a "-" in front of them removed.
func with(t testing.TB, rs *resolver.Ruleset, keys ...string) *resolver.Ruleset {
	t.Helper()
	var changes []resolver.RuleChange
	for _, key := range keys {
		change := resolver.RuleChange{Key: strings.TrimPrefix(key, "-")}
		if change.Key == key {
			change.Rule = &resolver.Rule{Key: key, Value: "https://example.com"}
		}
		changes = append(changes, change)
	}
	next, _, err := rs.With(changes)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// roomy returns a ruleset of keys and of others, so that many more can be derived from it.
func roomy(t testing.TB, keys ...string) *resolver.Ruleset {
	for i := range 100 {
		keys = append(keys, fmt.Sprint("other", i))
	}
	return rulesetOf(t, keys...)
}

func TestADerivedRulesetGoesOnWithTheCountsOfTheOneBefore(t *testing.T) {
	h := NewCounters(noon)
	h.add("back", Count{7, minuteOf(noon)}.word()) // of a ruleset long ago
	first := roomy(t, "a", "b", "t/{x}")
	c := h.Begin(first)
	late, _ := first.NumberOf("a")
	ruleset := first
	for _, step := range []struct {
		changes []string
		hit     string
		want    map[string]uint64
	}{
		{nil, "a", map[string]uint64{"a": 1, "back": 7}},
		{[]string{"new", "-b"}, "new", map[string]uint64{"a": 1, "new": 1, "back": 7}},
		{[]string{"-a", "back"}, "back", map[string]uint64{"a": 1, "new": 1, "back": 8}},
		{[]string{"u/{x}/{y}"}, "t/{x}", map[string]uint64{"a": 1, "new": 1, "back": 8, "t/{1}": 1}},
		{[]string{"a", "-t/{x}"}, "a", map[string]uint64{"a": 2, "new": 1, "back": 8, "t/{1}": 1}},
		{[]string{"t/{x}"}, "t/{x}", map[string]uint64{"a": 2, "new": 1, "back": 8, "t/{1}": 2}},
	} {
		ruleset = with(t, ruleset, step.changes...)
		if next := h.Next(c, ruleset); next != c {
			t.Fatalf("%v: the counts move", step.changes)
		}
		c.hitKey(t, step.hit)
		wantCounts(t, h, step.want)
	}
	c.Count(late) // of a request that still has the first ruleset
	if m := h.countOfKey("a"); m.N != 3 {
		t.Errorf("a has %d hits", m.N)
	}
	anew, err := ruleset.Recompile()
	if err != nil {
		t.Fatal(err)
	}
	next := h.Next(c, anew)
	if next == c {
		t.Fatal("what is compiled anew has the numbers of before")
	}
	h.Retire(c, nil)
	wantCounts(t, h, map[string]uint64{"a": 3, "new": 1, "back": 8, "t/{1}": 2})
}

func TestOfHandlersOfOneNameEachCountsOnWhatItDerives(t *testing.T) {
	h := NewCounters(noon)
	one, two := h.Begin(roomy(t, "a", "b")), h.Begin(roomy(t, "a", "c"))
	one.hitKey(t, "a")
	two.hitKey(t, "a")
	h.Next(one, with(t, one.ruleset, "-a", "c"))
	one.hitKey(t, "c")
	two.hitKey(t, "c")
	wantCounts(t, h, map[string]uint64{"a": 2, "c": 2})
	h.Next(two, with(t, two.ruleset, "-a"))
	wantCounts(t, h, map[string]uint64{"a": 2, "c": 2})
	h.Retire(two, nil)
	wantCounts(t, h, map[string]uint64{"a": 2, "c": 2})
}

// Under the race detector, too.
func TestNoHitIsLostWhileRulesetsAreDerived(t *testing.T) {
	h := NewCounters(noon)
	type loaded struct {
		ruleset *resolver.Ruleset
		counted *RulesetCounters
	}
	first := roomy(t, "a")
	var serving atomic.Pointer[loaded]
	serving.Store(&loaded{first, h.Begin(first)})
	const each, steps = 2000, 300
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for i := range each {
				now := serving.Load()
				key := "a"
				if n := now.ruleset.Len(); i%2 == 1 && n > 101 {
					key = fmt.Sprintf("t%d/{x}", n-102)
				}
				n, _ := now.ruleset.NumberOf(key)
				now.counted.Count(n)
			}
		})
	}
	for i := range steps {
		before := serving.Load()
		next := with(t, before.ruleset, fmt.Sprintf("t%d/{x}", i))
		counted := h.Next(before.counted, next)
		serving.Store(&loaded{next, counted})
		if counted != before.counted {
			h.Retire(before.counted, nil)
		}
		if i%20 == 0 {
			h.each(selection{save: i%40 == 0}, func(string, Count) {})
		}
	}
	requests.Wait()
	sum := uint64(0)
	for _, n := range h.counts() {
		sum += n
	}
	if sum != 4*each {
		t.Errorf("%d hits of %d are counted", sum, 4*each)
	}
}

func TestRulesetsOfOneNameCountTogether(t *testing.T) {
	h := NewCounters(noon)
	one, two := h.Begin(rulesetOf(t, "a", "b")), h.Begin(rulesetOf(t, "b", "c"))
	one.hitKey(t, "b")
	two.hitKey(t, "b")
	two.hitKey(t, "c")
	wantCounts(t, h, map[string]uint64{"b": 2, "c": 1})
	if m := h.countOfKey("b"); m.N != 2 {
		t.Errorf("b has %+v", m)
	}
}

// Under the race detector, too: requests count while rules are swapped and hits are saved.
func TestNoHitIsLostWhileRulesAreSwappedAndHitsAreSaved(t *testing.T) {
	h := NewCounters(noon)
	var serving atomic.Pointer[RulesetCounters]
	serving.Store(h.Begin(rulesetOf(t, "a", "b")))
	const each = 5000
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for range each {
				serving.Load().hitKey(t, "a")
			}
		})
	}
	for i := range 20 {
		next := h.Begin(rulesetOf(t, "a", fmt.Sprint("other", i)))
		h.Retire(serving.Swap(next), nil)
		h.each(selection{save: i%2 == 0}, func(string, Count) {})
	}
	requests.Wait()
	if m := h.countOfKey("a"); m.N != 4*each {
		t.Errorf("%d hits of %d are counted", m.N, 4*each)
	}
}

func TestOfKeysThatAreGoneTheOldestAreForgotten(t *testing.T) {
	h := NewCounters(noon)
	for i := range mostUnserved + 1 {
		h.add(fmt.Sprint("k", i), Count{1, uint32(i)}.word())
	}
	h.tick(noon)
	counts := h.counts()
	if len(counts) > mostUnserved || counts["k0"] != 0 || counts[fmt.Sprint("k", mostUnserved)] != 1 {
		t.Errorf("%d keys are remembered", len(counts))
	}
}

// drawer is a storage in memory whose writes can be made to fail.
type drawer struct {
	certmagic.Storage
	mu      sync.Mutex
	entries map[string]string
	stores  int
	fails   func(operation, key string) bool
	isLate  bool // a write that fails is done all the same, as where its answer is lost
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
	err := s.check("store", key)
	if err == nil || s.isLate {
		s.stores++
		s.entries[key] = string(value)
	}
	return err
}

func (s *drawer) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("delete", key); err != nil {
		return err
	}
	before := len(s.entries)
	maps.DeleteFunc(s.entries, func(entry, _ string) bool {
		return entry == key || strings.HasPrefix(entry, key+"/")
	})
	if len(s.entries) == before {
		return fs.ErrNotExist
	}
	return nil
}

func (s *drawer) List(_ context.Context, prefix string, recursive bool) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := map[string]bool{}
	for key := range s.entries {
		below, ok := strings.CutPrefix(key, prefix+"/")
		if first, _, _ := strings.Cut(below, "/"); !recursive {
			below = first
		}
		if ok {
			listed[prefix+"/"+below] = true
		}
	}
	return slices.Collect(maps.Keys(listed)), nil
}

// serverWith returns the hits of a server that has just started, and their store.
func serverWith(t *testing.T, storage certmagic.Storage, server string, keys ...string) (*Counters,
	*RulesetCounters, *store) {
	t.Helper()
	h := NewCounters(noon)
	c := h.Begin(rulesetOf(t, keys...))
	s := newStore("links", server, storage, zap.NewNop())
	if err := s.restore(t.Context(), h, noon); err != nil {
		t.Fatal(err)
	}
	return h, c, s
}

// keep does what is done each minute.
func (s *store) keep(ctx context.Context, h *Counters, now time.Time) error {
	if err := s.save(ctx, h, now); err != nil {
		return err
	}
	return s.recordDays(ctx, h, now)
}

func (s *store) mustSave(t *testing.T, h *Counters) {
	t.Helper()
	if err := s.keep(t.Context(), h, noon); err != nil {
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
	s.mustSave(t, h)
	h.tick(noon.Add(time.Hour))
	c.hitKey(t, "a")
	s.mustSave(t, h) // which writes what has changed
	h, c, s = serverWith(t, storage, "one", keys...)
	wantCounts(t, h, map[string]uint64{"a": 2, "b": 1, "c": 1, "d": 1, "e": 1})
	if m := h.countOfKey("a"); !m.Time().Equal(noon.Add(time.Hour)) {
		t.Errorf("a was hit at %v", m.Time())
	}
	c.hitKey(t, "a")
	s.mustSave(t, h)
	h, _, _ = serverWith(t, storage, "one", "a", "other")
	wantCounts(t, h, map[string]uint64{"a": 3, "b": 1, "c": 1, "d": 1, "e": 1})
}

func TestNothingIsWrittenWhereNothingWasHit(t *testing.T) {
	storage := newDrawer()
	h, c, s := serverWith(t, storage, "one", "a", "b", "c")
	s.mustSave(t, h)
	if storage.stores != 0 {
		t.Errorf("%d entries are written before any hit", storage.stores)
	}
	c.hitKey(t, "a")
	c.hitKey(t, "b")
	c.hitKey(t, "c")
	s.mustSave(t, h)
	c.hitKey(t, "a")
	s.mustSave(t, h)
	before := storage.stores
	s.mustSave(t, h)
	s.mustSave(t, h)
	if storage.stores != before {
		t.Errorf("%d entries are written without a hit", storage.stores-before)
	}
}

// Whatever operation on the storage fails, and whether the server goes on or is started anew then,
// no hit that was saved is lost, and none counts twice.
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
				err := s.keep(t.Context(), h, noon)
				if err == nil {
					saved = maps.Clone(hit)
				} else if restarted {
					h, c, s = serverWith(t, storage, "one", keys...)
					for key, n := range h.counts() {
						if n < saved[key] || n > hit[key] {
							t.Fatalf("operation %d fails: %s has %d hits, of which %d were saved, of %d", failing, key,
								n, saved[key], hit[key])
						}
					}
					hit = h.counts()
				}
			}
			s.mustSave(t, h)
			h, _, _ = serverWith(t, storage, "one", keys...)
			wantCounts(t, h, hit)
		}
	}
}

func TestAnEntryThatCannotBeReadIsPutAside(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"cut off": func(s string) string { return s[:len(s)-3] },
		"no end": func(s string) string {
			return s[:strings.LastIndexByte(strings.TrimSuffix(s, "\n"), '\n')+1]
		},
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
			s.mustSave(t, h)
			const entry = "shortlink/hits/links/one/today"
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
			s.mustSave(t, h)
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
	s.mustSave(t, h)
	storage.fails = func(operation, _ string) bool { return operation == "load" }
	h = NewCounters(noon)
	c = h.Begin(rulesetOf(t, "a"))
	s = newStore("links", "one", storage, zap.NewNop())
	if err := s.restore(t.Context(), h, noon); err == nil {
		t.Error("what cannot be read is restored")
	}
	c.hitKey(t, "a")
	if err := s.save(t.Context(), h, noon); err == nil {
		t.Error("what is stored is overwritten")
	}
	storage.fails = nil
	if err := s.restore(t.Context(), h, noon); err != nil {
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
		s.mustSave(t, h)
	}
	_, c, s := serverWith(t, storage, "one", "a", "one", "two")
	others, err := s.others(t.Context(), c.ruleset)
	if err != nil || !others.since.Equal(noon) {
		t.Fatalf("they are %+v, %v", others, err)
	}
	for key, want := range map[string]uint64{"a": 2, "two": 1, "one": 0} {
		if n, _ := c.number(key); others.counts[n].N != want {
			t.Errorf("%s has %d hits, want %d", key, others.counts[n].N, want)
		}
	}
}

func TestAnotherStorageGetsAllHits(t *testing.T) {
	h, c, s := serverWith(t, newDrawer(), "one", "a", "b", "c")
	c.hitKey(t, "a")
	s.mustSave(t, h)
	other := newDrawer()
	s.use(other, zap.NewNop())
	s.mustSave(t, h)
	h, _, _ = serverWith(t, other, "one", "a")
	wantCounts(t, h, map[string]uint64{"a": 1})
}

func TestAnEntryOfAnotherServerThatCannotBeReadIsLeftAlone(t *testing.T) {
	storage := newDrawer()
	h, c, s := serverWith(t, storage, "one", "a")
	c.hitKey(t, "a")
	s.mustSave(t, h)
	const entry = "shortlink/hits/links/two/today"
	storage.entries[entry] = "shortlink hits 3 of another version"
	if others, err := s.others(t.Context(), c.ruleset); err != nil || others.counts != nil ||
		storage.entries[entry] == "" {
		t.Errorf("got %v, %v, and the entry is %q", others, err, storage.entries[entry])
	}
}

func TestUnusedRulesAreThoseThatNobodyHasNeededForSoLong(t *testing.T) {
	rs, err := resolver.Compile([]resolver.Rule{
		{Key: "used", Value: "/through"}, {Key: "through", Value: "https://example.com"},
		{Key: "old", Value: "https://example.com"}, {Key: "never", Value: "https://example.com"},
	}, resolver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hits := NewCounters(noon)
	c := hits.Begin(rs)
	c.hitKey(t, "old")
	hits.tick(noon.Add(100 * 24 * time.Hour))
	c.hitKey(t, "used")
	for name, tt := range map[string]struct {
		cutoff time.Time
		want   []string
	}{
		"a short time": {noon.Add(99 * 24 * time.Hour), []string{"never", "old"}},
		"a long time":  {noon.Add(-time.Hour), []string{"never"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := NewKeeper("links", hits).List(t.Context(), rs)
			if err != nil {
				t.Fatal(err)
			}
			note := l.HideUsed(tt.cutoff)
			var got []string
			for key := range l.All() {
				got = append(got, key)
			}
			if !slices.Equal(got, tt.want) || (note != "") != tt.cutoff.Before(noon) {
				t.Errorf("unused are %q, and the note is %q", got, note)
			}
		})
	}
}
