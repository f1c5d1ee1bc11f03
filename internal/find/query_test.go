package find

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// walk searches page by page to the end, and returns the keys found, in order, and on how many
// pages. between is called between two pages.
func walk(
	t *testing.T, x *Index, ruleset *resolver.Ruleset, query Query, between func(page int),
) (keys []string, pages int) {
	t.Helper()
	for pages = 1; ; pages++ {
		found := x.Search(t.Context(), ruleset, query)
		keys = append(keys, keysOf(found.Rules)...)
		if !found.More && !found.Late {
			return keys, pages
		}
		if found.Next == query.Behind && pages > 100 {
			t.Fatalf("page %d ends where it began: %+v", pages, found)
		}
		query.Behind = found.Next
		between(pages)
	}
}

func TestASearchFindsRulesWithAllWordsInAnySpelling(t *testing.T) {
	ruleset := compile(t, resolver.Options{NoLines: true},
		resolver.Rule{Key: "café", Value: "https://x.example/menu"},
		resolver.Rule{Key: "cafes", Value: "https://x.example/"},
		resolver.Rule{Key: "École/Straße", Value: "https://x.example/", Note: "Für das Team"},
		resolver.Rule{Key: "paris", Value: "https://fr.example/wiki/Caf%C3%A9_de_Flore"},
		resolver.Rule{Key: "wiki", Value: "https://wiki.example/", Note: "of the whole team"})
	x := unlimited()
	x.makeNow(ruleset)
	for text, want := range map[string]string{
		"cafe": "cafes café paris", "CAFÉ": "cafes café paris", "cafe\u0301": "cafes café paris",
		"é": "cafes café École/Straße paris wiki", "ecole": "École/Straße",
		"É STRASSE": "École/Straße",
		"team wiki": "wiki", "wiki team": "wiki", "wiki nobody": "", "cafe menu": "café",
		"fr.example flore": "paris", "team fur": "École/Straße", "/wiki": "wiki paris",
	} {
		found := x.Search(t.Context(), ruleset, Query{Text: text, Most: 9})
		got, sorted := keysOf(found.Rules), strings.Fields(want)
		slices.Sort(got)
		slices.Sort(sorted)
		if !slices.Equal(got, sorted) {
			t.Errorf("%q finds %q, want %q", text, got, sorted)
		}
	}
}

// manyRules are rules of which every tenth has the text "tenth".
func manyRules(t *testing.T, n int) *resolver.Ruleset {
	var rules []resolver.Rule
	for i := range n {
		rule := resolver.Rule{Key: fmt.Sprintf("k%d", i*7919%n), Value: "https://x.example/"}
		if i%10 == 0 {
			rule.Note = "a tenth"
		}
		rules = append(rules, rule)
	}
	rules[n/2].Key = "tenth"
	return compile(t, resolver.Options{NoLines: true}, rules...)
}

// usesOf returns how often rules are used: less than most times.
func usesOf(ruleset *resolver.Ruleset, most int) func(number int) uint64 {
	return func(number int) uint64 {
		if ruleset.KeyOf(number) == "" {
			return 0
		}
		return uint64(number % most)
	}
}

func TestASearchWithoutTimeGoesOnWhereItStopped(t *testing.T) {
	ruleset := manyRules(t, 30*pauseEvery)
	x := unlimited()
	x.makeNow(ruleset)
	uses := usesOf(ruleset, 5)
	for name, query := range map[string]Query{
		"by key": {Text: "tenth", Most: 10}, "nothing": {Text: "nowhere", Most: 10},
		"all": {Most: 700}, "by uses": {Text: "tenth", Most: 10, Uses: uses},
		"some": {Only: func(number int) bool { return number%3 == 0 }, Most: 50},
		"few":  {Only: func(number int) bool { return number == 1000 }, Most: 50},
	} {
		want, _ := walk(t, x, ruleset, query, func(int) {})
		for _, isMade := range []bool{true, false} {
			t.Run(fmt.Sprint(name, "/", isMade), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := New(func() { time.Sleep(100 * time.Millisecond) })
					x.sortedAtOnce = 0
					if isMade {
						x.makeNow(ruleset)
					} else {
						x.keys.latest = ruleset // as if it were being made
					}
					got, pages := walk(t, x, ruleset, query, func(page int) {
						if page == 5 && !isMade {
							k := makeKeys(ruleset, func() {})
							x.keys.now.Store(&k)
						}
					})
					if !slices.Equal(got, want) || name != "all" && pages < 10 {
						t.Errorf("on %d pages are %d rules, want %d", pages, len(got), len(want))
					}
				})
			})
		}
	}
}

func TestTheMostUsedRulesAreFoundFirst(t *testing.T) {
	for seed := range uint64(20) {
		r := randomRules{rand.New(rand.NewPCG(seed, 4))}
		ruleset, fold := r.ruleset(t)
		x := unlimited()
		x.makeNow(ruleset)
		query := Query{Text: r.text(), Most: 1 + r.IntN(4)}
		query.Uses = usesOf(ruleset, 4)
		want := plainSearch(ruleset, fold, query.Text)
		canonical := func(rule resolver.Rule) string { return resolver.CanonicalKey(rule.Key, fold) }
		slices.SortFunc(want, func(a, b resolver.Rule) int {
			first, _ := ruleset.NumberOf(a.Key)
			second, _ := ruleset.NumberOf(b.Key)
			if first%4 != second%4 {
				return second%4 - first%4
			}
			return compareKeys(canonical(a), canonical(b))
		})
		if got, _ := walk(t, x, ruleset, query, func(int) {}); !slices.Equal(got, keysOf(want)) {
			t.Errorf("%q: found are %q, want %q", query.Text, got, keysOf(want))
		}
	}
}

func TestASearchTellsHowManyThereAre(t *testing.T) {
	ruleset := manyRules(t, 20*pauseEvery)
	x := unlimited()
	x.makeNow(ruleset)
	found := x.Search(t.Context(), ruleset, Query{Text: "tenth", Most: 5})
	if found.Total != 128 || found.AtLeast {
		t.Errorf("there are %d, at least: %t; want 128", found.Total, found.AtLeast)
	}
	synctest.Test(t, func(t *testing.T) {
		x := New(func() { time.Sleep(20 * time.Millisecond) })
		x.makeNow(ruleset)
		found := x.Search(t.Context(), ruleset, Query{Text: "tenth", Most: 5})
		if found.Total < 6 || found.Total > 40 || !found.AtLeast || found.Late || !found.More {
			t.Errorf("found are %+v", found)
		}
	})
}
