package live

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2"

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
		worn := rs.Serving()
		rs.shared.renewal = new(renewal)
		s.put("b", two)
		s.tell()
		s.put("c", three)
		s.tell()
		records := logs.Len()
		rs.renew(worn.Ruleset)
		rs.wantServed(t, "a", one, "b", two, "c", three)
		if worn.Ruleset == rs.Serving().Ruleset || rs.shared.renewal != nil || logs.Len() != records {
			t.Errorf("the renewal is %v, and the log has %v", rs.shared.renewal, logs.All()[records:])
		}
		list, err := rs.Hits(t.Context())
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
		rs.wantServed(t, "a", two, "b", two, "c", three)
	})
}

func TestAWornRulesetIsCompiledAnewUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &changingSource{}
		rules := []string{"a", one}
		for i := range 100 {
			rules = append(rules, fmt.Sprint("k", i), two)
		}
		s.set(rules...)
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
		if rs.Serving().Ruleset.IsWorn() || rs.shared.renewal != nil || changes < 10 {
			t.Errorf("after %d changes it is worn, or still compiled", changes)
		}
		if n := logs.FilterMessage("rules swapped").Len(); n != changes || logs.Len() != n {
			t.Errorf("%d changes leave %d records, of %d", changes, n, logs.Len())
		}
	})
}

func TestWhatIsCompiledAnewServesNotInThePlaceOfAnother(t *testing.T) {
	for name, tt := range map[string]func(*Ruleset, *rewritingSource, func()){
		"a source is read meanwhile": func(_ *Ruleset, s *rewritingSource, _ func()) {
			s.set("a", two)
			s.tell()
		},
		"the configuration ends": func(_ *Ruleset, _ *rewritingSource, end func()) { end() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(rewritingSource)
				s.set("a", one)
				rs, _ := serve(t, Config{Sources: []source.Source{s}})
				synctest.Wait()
				var end func()
				rs.Context, end = caddy.NewContext(rs.Context)
				worn := rs.Serving().Ruleset
				rs.shared.renewal = new(renewal)
				tt(rs, s, end)
				serving := rs.Serving().Ruleset
				rs.renew(worn)
				if rs.Serving().Ruleset != serving || rs.shared.renewal != nil {
					t.Error("it serves")
				}
				end()
			})
		})
	}
}
