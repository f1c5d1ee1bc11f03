package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestChangesSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 100)
		s.change("a", "b")
		s.edit("bob", "b", "c")
		want := []string{"links.json a b", "bob b c"}
		s.wants(want...)
		s.kill()
		s = start(t, m, 100)
		s.wants(want...)
		if recent := s.Recent(); len(recent) != 1 || recent[0].User != "bob" || recent[0].Key != "docs" {
			t.Errorf("last changed: %+v", recent)
		}
		s.wantsWay("c", "a", "b", "a")
		s.wantsWay("a", "c", "b", "c")
	})
}

func TestAChangeThatHappensAgainIsKeptAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 100)
		s.edit("bob", "a", "b")
		s.edit("eve", "b", "a")
		s.edit("ann", "a", "b")
		want := []string{"bob a b", "eve b a", "ann a b"}
		s.wants(want...)
		s.kill()
		s = start(t, m, 100)
		s.edit("eve", "b", "a")
		s.wants(append(want, "eve b a")...)
	})
}

func TestServersThatShareAStorageKeepEachChangeOnce(t *testing.T) {
	for name, happens := range map[string]func(one, other *server){
		"the editor first": func(one, other *server) {
			one.edit("bob", "a", "b")
			other.change("a", "b")
			one.edit("eve", "b", "c")
			other.change("b", "c")
		},
		"the editor last": func(one, other *server) {
			other.change("a", "b")
			one.edit("bob", "a", "b")
			other.change("b", "c")
			one.edit("eve", "b", "c")
		},
		"at once": func(one, other *server) {
			for _, s := range []*server{one, other} {
				for _, step := range []string{"ab", "bc"} {
					c := changeOf(step[:1], step[1:])
					if c.Source = "links.json"; s == one {
						c.User = map[string]string{"ab": "bob", "bc": "eve"}[step]
					}
					s.Record(c, oneKey(step[:1], step[1:]))
				}
			}
			synctest.Wait()
		},
		"in one step where a server is slow": func(one, other *server) {
			one.edit("bob", "a", "b")
			one.edit("eve", "b", "c")
			other.change("a", "c")
		},
	} {
		for _, apart := range []time.Duration{0, -time.Hour, time.Hour} {
			t.Run(fmt.Sprint(name, ", clocks differ by ", apart), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newMemory()
					one, other := start(t, m, 100), start(t, m, 100)
					one.clock = func() time.Duration { return apart }
					happens(one, other)
					for _, s := range []*server{one, other, start(t, m, 100)} {
						s.wants("bob a b", "eve b c")
						s.wantsWay("c", "a", "b", "a")
					}
					if recent := other.Recent(); len(recent) != 1 || recent[0].User != "eve" {
						t.Errorf("last changed: %+v", recent)
					}
				})
			})
		}
	}
}

func TestAnEditThatIsStoredAtTheSecondTryIsKeptOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		one, other := start(t, m, 100), start(t, m, 100)
		other.change("a", "b")
		m.set(func() { m.fails = errors.New("busy") })
		one.edit("bob", "a", "b")
		m.set(func() { m.fails = nil })
		time.Sleep(longestRetry)
		synctest.Wait()
		one.wants("bob a b")
		other.wants("bob a b")
	})
}

func TestAServerThatDiesAtAnyStepLeavesAHistoryThatIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for steps := range 30 {
			m := newMemory()
			s := start(t, m, 2)
			s.edit("bob", "a", "b")
			s.edit("bob", "b", "c")
			m.set(func() { m.isDying, m.left = true, steps })
			s.edit("bob", "c", "d")
			_ = s.Forget(t.Context(), digest("c")) // the server may be dead
			s.edit("bob", "d", "e")
			s.end()
			time.Sleep(time.Minute)
			s.End()
			m.set(func() { m.isDying = false })
			after := start(t, m, 2)
			all, err := after.List(t.Context(), nil)
			if err != nil || len(all) != 2 {
				t.Fatalf("after %d steps: %v, %v", steps, all, err)
			}
			for i, e := range all {
				if i > 0 && e.New != all[i-1].Old {
					t.Errorf("after %d steps there is a gap between %v and %v", steps, e, all[i-1])
				}
			}
			if names := m.names(); len(names) != 2 {
				t.Errorf("after %d steps there are %q", steps, names)
			}
		}
	})
}

func TestAStorageThatRefusesIsToldOnceAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 100)
		m.set(func() { m.fails = errors.New("no space left on device") })
		for i := range 5 {
			s.edit("bob", fmt.Sprint(i), fmt.Sprint(i+1))
			time.Sleep(10 * time.Minute)
		}
		if o := s.Outage(); o == nil || o.Error != "no space left on device" {
			t.Errorf("the outage is %v", o)
		}
		if logged := s.logs.FilterMessageSnippet("cannot be stored; trying again").Len(); logged != 1 {
			t.Errorf("logged %d times", logged)
		}
		s.wants("bob 0 1", "bob 1 2", "bob 2 3", "bob 3 4", "bob 4 5")
		s.wantsWay("5", "4", "4")
		m.set(func() { m.fails = nil })
		time.Sleep(longestRetry)
		synctest.Wait()
		if o := s.Outage(); o != nil || m.stores != 5 {
			t.Errorf("the outage is %v, %d changes are stored", o, m.stores)
		}
		if logged := s.logs.FilterMessageSnippet("stored again").Len(); logged != 1 {
			t.Errorf("the end is logged %d times", logged)
		}
	})
}

func TestMemoryIsBoundedWhileTheStorageRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.fails = errors.New("no space left on device")
		s := start(t, m, 3)
		for i := range 10 {
			s.edit("bob", fmt.Sprint(i), fmt.Sprint(i+1))
		}
		s.wants("bob 7 8", "bob 8 9", "bob 9 10")
		for _, e := range s.pending {
			e.content = append(e.content, bytes.Repeat([]byte(" "), mostPending-1000)...)
		}
		s.wants("bob 7 8: "+Unstored, "bob 8 9: "+Unstored, "bob 9 10")
		s.wantsWay("10", "8", "the history does not lead there: the change from 8fffffffffff to "+
			"9fffffffffff lies in between, and has no content: it could not be stored for too long")
	})
}

func TestAChangeThatIsNotStoredYetIsListedInPlaceOfTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 2)
		s.edit("bob", "0", "1")
		s.edit("bob", "1", "2")
		m.set(func() { m.fails = errors.New("no space left on device") })
		s.edit("bob", "2", "3")
		s.wants("bob 1 2", "bob 2 3")
	})
}

func TestRubbishInTheStorageIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 100)
		s.edit("bob", "a", "b")
		s.edit("bob", "b", "c")
		s.kill()
		for name, entry := range m.entries {
			if strings.Contains(name, "/"+half(digest("a"))) {
				m.entries[name] = entry[:len(entry)-10]
			}
		}
		for name, entry := range map[string]string{
			"x": "", "x-y-1a": "rubbish", "x-y-2a": magic + "{}\n", "x-y-3a": magic + "null\nx",
			"x-y-04a": "", "x-y-1": "", "x-y-1z": "",
		} {
			m.entries["shortlink/history/links/"+name] = entry
		}
		s = start(t, m, 100)
		s.wants("bob a b", "bob b c")
		s.wantsWay("c", "b", "b")
		if _, err := s.Get(t.Context(), digest("b")); err == nil {
			t.Error("a damaged content is read")
		}
		all, err := s.List(t.Context(), func(string) bool { return true })
		if err != nil || len(all) != 1 {
			t.Errorf("of the key: %v, %v", all, err)
		}
		if n := s.logs.FilterMessageSnippet("cannot be read").Len(); n != 3 {
			t.Errorf("%d entries are told: %v", n, s.logs.All())
		}
		s.edit("bob", "c", "d")
		s.wants("bob a b", "bob b c", "bob c d")
		s.KeepIn(t.Context(), m, s.place.Load().Logger, 2)
		s.edit("bob", "d", "e")
		s.wants("bob c d", "bob d e")
	})
}

func TestTheOldestChangesMakeRoomWhateverClocksSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 2)
		s.edit("bob", "a", "b")
		s.edit("bob", "b", "c")
		s.clock = func() time.Duration { return -10 * 365 * 24 * time.Hour }
		s.edit("bob", "c", "d")
		s.wants("bob b c", "bob c d")
		for _, k := range s.kept {
			k.size = mostStored
		}
		s.edit("bob", "d", "e")
		s.wants("bob d e")
	})
}

func TestWhatIsForgottenIsNowhereInTheStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		one, other := start(t, m, 100), start(t, m, 100)
		one.edit("bob", "a", "b")
		one.edit("bob", "b", "c")
		if err := one.Forget(t.Context(), digest("b")[:8]); err != nil {
			t.Fatal(err)
		}
		other.change("a", "b")
		other.change("b", "c")
		for _, s := range []*server{one, other, start(t, m, 100)} {
			s.wants("bob a b: it was forgotten", "bob b c")
			s.wantsWay("c", "a", "the history does not lead there: the change from afffffffffff to "+
				"bfffffffffff lies in between, and has no content: it was forgotten")
		}
		for name, entry := range m.entries {
			if strings.Contains(name, half(digest("a"))) && strings.Contains(entry, "docs") {
				t.Errorf("%s has %q", name, entry)
			}
		}
		if err := one.Forget(t.Context(), digest("a")); !errors.Is(err, ErrUnknown) {
			t.Error("where no change led: ", err)
		}
	})
}

func TestNothingIsForgottenWhileTheStorageRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.fails = errors.New("no space left on device")
		s := start(t, m, 100)
		s.edit("bob", "a", "b")
		if err := s.Forget(t.Context(), digest("b")); !errors.Is(err, m.fails) {
			t.Error(err)
		}
		m.set(func() { m.fails = nil })
		if err := s.Forget(t.Context(), digest("b")); err != nil {
			t.Error(err)
		}
		s.wants("bob a b: it was forgotten")
		if s.Recent() != nil {
			t.Error("its key is known")
		}
	})
}

func TestAChangeThatIsTooLargeIsKeptAsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newMemory(), 100)
		c := changeOf("a", "b")
		c.User, c.Added = "bob", mostKeys
		s.Record(c, func(func(KeyChange) bool) { t.Error("its rules are asked for") })
		long := "\"" + strings.Repeat("x", 1<<20) + "\""
		c.Old, c.New, c.Added = c.New, digest("c"), 0
		given := 0
		s.Record(c, func(yield func(KeyChange) bool) {
			for yield(KeyChange{Key: fmt.Sprint(given), After: []byte(long)}) {
				given++
			}
		})
		synctest.Wait()
		s.wants("bob a b: "+TooLarge, "bob b c: "+TooLarge)
		if given > mostText>>20 {
			t.Errorf("%d rules are looked at", given)
		}
		e, err := s.Get(t.Context(), digest("c"))
		if err != nil || e.Missing != TooLarge || e.Keys != nil {
			t.Errorf("got %v, %v", e, err)
		}
	})
}

func TestADigestIsNamedByItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newMemory(), 100)
		s.edit("bob", "12345678a", "12345678b")
		for beginning, want := range map[string]error{
			"1234567": ErrAmbiguous, "12345678": ErrAmbiguous, "12345679": ErrUnknown, "12345678a": nil,
		} {
			got, err := s.Way(t.Context(), digest("12345678a"), beginning, func(KeyChange) {})
			if !errors.Is(err, want) || want == nil && got != digest("12345678a") {
				t.Errorf("%s: %s, %v", beginning, got, err)
			}
		}
	})
}

func TestAKeysChangesAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newMemory(), 100)
		s.edit("bob", "a", "b")
		c := changeOf("b", "c")
		c.Added, c.Removed, c.Changed = 1, 1, 0
		s.Record(c, slices.Values([]KeyChange{{"other", nil, text("b")}, {"docs", text("b"), nil}}))
		synctest.Wait()
		all, err := s.List(t.Context(), func(key string) bool { return key == "other" })
		if err != nil || len(all) != 1 || len(all[0].Keys) != 1 ||
			all[0].Keys[0].Kind() != resolver.ChangeAdded {
			t.Errorf("got %v, %v", all, err)
		}
		e, err := s.Get(t.Context(), digest("c"))
		if err != nil || len(e.Keys) != 2 || e.Keys[0].Key != "docs" ||
			e.Keys[0].Kind() != resolver.ChangeRemoved {
			t.Errorf("got %v, %v", e, err)
		}
	})
}

func TestListedChangesAreFilledWithTheirKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newMemory(), 100)
		s.edit("ann", "a", "b")
		s.edit("bob", "b", "a")
		s.edit("eve", "c", "b")
		all, err := s.List(t.Context(), nil)
		if err == nil {
			err = s.Fill(t.Context(), all[1:], 1)
		}
		if err != nil || len(all) != 3 || all[0].Keys != nil || len(all[1].Keys) != 1 ||
			string(all[2].Keys[0].After) != string(text("b")) {
			t.Errorf("got %v, %v", all, err)
		}
	})
}

func TestNothingIsStoredWhereTheHistoryIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := start(t, m, 0)
		s.edit("bob", "a", "b")
		time.Sleep(time.Hour)
		if names := m.names(); names != nil || s.Outage() != nil {
			t.Errorf("there are %q, %v", names, s.Outage())
		}
		if recent := s.Recent(); len(recent) != 1 {
			t.Errorf("last changed: %v", recent)
		}
		s.KeepIn(t.Context(), m, s.place.Load().Logger, 3)
		s.edit("bob", "b", "c")
		s.wants("bob a b: "+Off, "bob b c")
	})
}

func TestAHangingStorageHoldsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &hanging{newMemory(), make(chan struct{})}
		s := start(t, m, 100)
		s.edit("bob", "a", "b")
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, err := s.List(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		begun := time.Now()
		s.kill()
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("the end took %s", took)
		}
		close(m.hangs)
	})
}

// hanging is a storage that does not answer when it is to store something.
type hanging struct {
	*memory
	hangs chan struct{}
}

func (h *hanging) Store(context.Context, string, []byte) error {
	<-h.hangs
	return nil
}

// manyKeys is a content that is worth to be compressed.
func manyKeys(yield func(KeyChange) bool) {
	for i := range 1000 {
		if !yield(KeyChange{Key: fmt.Sprint("k", 1999-i), After: text(fmt.Sprint(i))}) {
			return
		}
	}
}

func TestALargeContentIsCompressed(t *testing.T) {
	content, missing := makeContent(manyKeys)
	if len(content) > 20_000 || missing != "" {
		t.Errorf("%d bytes, %s", len(content), missing)
	}
	keys, err := parseContent(content)
	if err != nil || len(keys) != 1000 || keys[0].Key != "k1000" {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if keys, err := parseContent(content[:len(content)-1]); err == nil {
		t.Errorf("without its last byte it has %d keys", len(keys))
	}
}

func TestAContentIsReadAsItWasWritten(t *testing.T) {
	rule := json.RawMessage(`"https://a.example/?a=1&b=<2>"`)
	content, missing := makeContent(slices.Values([]KeyChange{{"docs", nil, rule}}))
	keys, err := parseContent(content)
	if err != nil || missing != "" || string(keys[0].After) != string(rule) {
		t.Errorf("got %s, %v, %s", content, err, missing)
	}
}

func FuzzEntry(f *testing.F) {
	content, _ := makeContent(manyKeys)
	h := head{Change{Time: time.Now(), Old: digest("a"), New: digest("b")}, 1}
	b, _ := makeEntry(h, content)
	f.Add(b)
	f.Add(content)
	content, _ = makeContent(oneKey("a", "b"))
	f.Add(content)
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, content, err := parseEntry(b); err == nil {
			again, err := makeEntry(h, content)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := parseEntry(again); err != nil {
				t.Errorf("%q is read, and %q is not: %v", b, again, err)
			}
			b = content
		}
		keys, _ := parseContent(b)
		for _, k := range keys {
			k.Kind()
		}
	})
}
