package live

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/source"
)

// wantFound checks which keys are found.
func (rs *Ruleset) wantFound(t *testing.T, text string, keys ...string) {
	t.Helper()
	var got []string
	for _, rule := range rs.Serving().Search(t.Context(), find.Query{Text: text, Most: 10}).Rules {
		got = append(got, rule.Key)
	}
	if !slices.Equal(got, keys) {
		t.Errorf("%q finds %q, want %q", text, got, keys)
	}
}

func TestWhatAnEditHasMadeIsFoundAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("docs", one, "wiki", two)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		rs.wantFound(t, "d", "docs") // which makes the index
		rs.Serving().Suggest("/doxs", 5)
		for i, key := range []string{"docks", "dogs", "down"} {
			synctest.Wait()
			if err := rs.apply(t.Context(), key, three); err != nil {
				t.Fatal(err)
			}
			rs.wantFound(t, "d", []string{"docks", "docs", "dogs", "down"}[:i+2]...)
			rs.wantFound(t, "wiki", "wiki")
		}
		s.set("other", one)
		s.tell()
		rs.wantFound(t, "", "other")
		rs.Serving().Suggest("/ohter", 5)
		synctest.Wait()
		if got := rs.Serving().Suggest("/ohter", 5); len(got) != 1 || got[0].Key != "other" {
			t.Errorf("suggested are %v", got)
		}
	})
}

// Under the race detector, too.
func TestRulesAreFoundWhileTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(rewritingSource)
		s.set("docs", one)
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := rs.apply(t.Context(), fmt.Sprint("key", i), two); err != nil {
					t.Error(err)
				}
				query := find.Query{Text: fmt.Sprint("key", i), Most: 1}
				if found := rs.Serving().Search(t.Context(), query); len(found.Rules) != 1 {
					t.Errorf("the new key is not found: %v", found)
				}
				rs.Serving().Suggest("/dosc", 5)
			})
		}
		all.Wait()
	})
}
