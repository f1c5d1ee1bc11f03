package live

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/caddy-shortlink/shortlink/source"
)

func TestWhatIsCompiledAnewServesAsItWasWithItsHits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set("a", one, "b", one)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		result := rs.Serving().Ruleset.Resolve("https://go.example/a")
		rs.Count(&result, rs.Serving())
		s.put("b", two)
		s.tell()
		worn, records := rs.Serving(), logs.Len()
		_ = rs.alone(func() error { rs.recompile(); return nil })
		rs.wantServed(t, "a", one, "b", two)
		if worn.Ruleset.SharesNumbers(rs.Serving().Ruleset) || logs.Len() != records {
			t.Errorf("it is not recompiled, or the log has %v", logs.All()[records:])
		}
		list, err := rs.Hits().List(t.Context(), rs.Serving().Ruleset)
		if err != nil {
			t.Fatal(err)
		}
		for key, m := range list.All() {
			if (key == "a") != (m.N == 1) {
				t.Errorf("%s has %d hits", key, m.N)
			}
		}
		s.put("a", two)
		s.tell()
		rs.wantServed(t, "a", two, "b", two)
	})
}

// manyKeys are rules of which one more or less makes no table larger.
func manyKeys() []string {
	rules := []string{"a", one}
	for i := range 100 {
		rules = append(rules, fmt.Sprint("k", i), two)
	}
	return rules
}

func TestAWornRulesetIsCompiledAnewUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		s.set(manyKeys()...)
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		first := rs.Serving().Ruleset
		changes := 0
		for first.SharesNumbers(rs.Serving().Ruleset) {
			if changes++; changes > 10_000 {
				t.Fatal("it wears for ever")
			}
			s.put("a", fmt.Sprint(one, changes))
			s.tell()
		}
		rs.wantServed(t, "a", fmt.Sprint(one, changes), "k7", two)
		if rs.Serving().Ruleset.IsWorn() || changes < 10 {
			t.Errorf("after %d changes it is worn", changes)
		}
		if n := logs.FilterMessage("rules swapped").Len(); n != changes || logs.Len() != n {
			t.Errorf("%d changes leave %d records, of %d", changes, n, logs.Len())
		}
	})
}

// Rules of a file move with each edit, and a third of the edits is refused.
func TestAServerThatIsEditedWithoutAPauseCompilesAnewAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &rewritingSource{plainSource{name: "links.json"}}
		s.set(manyKeys()...)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		const edits = 6_000
		renewals, before := 0, rs.Serving().Ruleset
		for i := range edits {
			key, value := fmt.Sprint("n", i%7), ""
			switch i % 3 {
			case 0:
				value = fmt.Sprint(one, i)
			case 1:
				key, value = "k7", "/k7" // which breaks it
			}
			if err := rs.apply(t.Context(), key, value); (err != nil) != (value == "/k7") &&
				value != "" {
				t.Fatal(err)
			}
			if now := rs.Serving().Ruleset; !now.SharesNumbers(before) {
				renewals, before = renewals+1, now
			}
		}
		if renewals < 3 {
			t.Errorf("%d edits compile the rules anew %d times", edits, renewals)
		}
	})
}
