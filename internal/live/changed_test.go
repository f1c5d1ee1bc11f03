package live

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

func TestTheKeysThatWereChangedLastAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("a", one, "b", one, "c", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		want := func(keys ...string) {
			t.Helper()
			var got []string
			for _, changed := range rs.Past().Changed(&rs.Serving().Rules, 10) {
				got = append(got, fmt.Sprint(changed.Key, " ", changed.Kind))
			}
			if !slices.Equal(got, keys) {
				t.Errorf("got %q, want %q", got, keys)
			}
		}
		want()
		for _, pair := range [][2]string{
			{"a", two}, {"new", one}, {"b", two}, {"a", three}, {"new", ""},
		} {
			time.Sleep(time.Second)
			if err := rs.apply(t.Context(), pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
		}
		want("a changed", "b changed")
		first := rs.Past().Changed(&rs.Serving().Rules, 1)
		if len(first) != 1 || time.Since(first[0].Time) != time.Second {
			t.Errorf("the last one is %v", first)
		}
		s.set("a", three, "%62", two, "c", one, "d", one)
		s.tell()
		want("%62 changed", "d added", "a changed")
		rs.Reload(t.Context())
		want("%62 changed", "d added", "a changed")
	})
}

func TestOnlySomeChangesAreKept(t *testing.T) {
	const keptChanges = 50
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		for i := range 2 * keptChanges {
			if err := rs.apply(t.Context(), fmt.Sprint(i), one); err != nil {
				t.Fatal(err)
			}
		}
		got := rs.Past().Changed(&rs.Serving().Rules, 1000)
		if len(got) != keptChanges || got[0].Key != fmt.Sprint(2*keptChanges-1) {
			t.Errorf("%d keys: %v", len(got), got)
		}
	})
}

func TestTheLastChangeOfAKeyIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("a", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		kinds := []resolver.ChangeKind{
			resolver.ChangeAdded, resolver.ChangeEdited, resolver.ChangeRemoved,
		}
		for i, value := range []string{one, two, ""} {
			if err := rs.apply(t.Context(), "new", value); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			for j, kind := range kinds {
				if got := rs.Past().IsChangedSince("new", kind, time.Now().Add(-time.Minute)); got != (i == j) {
					t.Errorf("after change %d: %s: %t", i, kind, got)
				}
			}
			if rs.Past().IsChangedSince("new", kinds[i], time.Now().Add(-time.Second)) {
				t.Error("a change is later than it was")
			}
			if rs.Past().IsChangedSince("a", kinds[i], time.Time{}) {
				t.Error("what was loaded first counts as a change")
			}
		}
	})
}
