package schedule_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// randomRule returns a rule with windows between the seconds 0 and 100.
func randomRule(key string) resolver.Rule {
	var windows []schedule.Window
	for n, from := rand.N(3)+1, rand.N(50); n > 0; n-- {
		until := from + 1 + rand.N(20)
		windows = append(windows, schedule.Window{
			Since: schedule.Time(from), Until: schedule.Time(until), Rule: resolver.Rule{Value: "/" + key},
		})
		from = until + rand.N(5)
	}
	return schedule.Join(key, resolver.Position{}, windows)
}

func TestATableThatIsChangedIsOneThatIsMadeAnew(t *testing.T) {
	var table *schedule.Table
	rules := map[schedule.Key]resolver.Rule{}
	for round := range 30 {
		changes := map[schedule.Key]*resolver.Rule{}
		for range rand.N(100) {
			key := schedule.Key{Source: rand.N(2), Key: fmt.Sprint("k", rand.N(2000))}
			if rule := randomRule(key.Key); rand.N(3) > 0 {
				changes[key], rules[key] = &rule, rule
			} else {
				changes[key] = nil
				delete(rules, key)
			}
		}
		table = table.With(changes)
		anew := schedule.New(rules)
		if table.Digest("x") != anew.Digest("x") || table.Len() != anew.Len() ||
			!maps.Equal(maps.Collect(table.All()), rules) {
			t.Fatalf("round %d: it has %d rules, want %d", round, table.Len(), anew.Len())
		}
		for range 5 {
			a, b := schedule.Time(rand.N(120)), schedule.Time(rand.N(120))
			from, until := table.Span(a)
			if f, u := anew.Span(a); f != from || u != until {
				t.Fatalf("nothing changes from %v until %v, want %v until %v", from, until, f, u)
			}
			if got := table.Between(a, b); !slices.Equal(got, changing(rules, a, b)) {
				t.Fatalf("from %d to %d %v change", a, b, got)
			}
		}
	}
}

// changing returns the keys whose rule has an edge between two instants.
func changing(rules map[schedule.Key]resolver.Rule, a, b schedule.Time) (keys []schedule.Key) {
	for key, rule := range rules {
		hasEdge := slices.ContainsFunc(schedule.Split(rule), func(w schedule.Window) bool {
			isIn := func(t schedule.Time) bool { return min(a, b) < t && t <= max(a, b) }
			return isIn(w.Since) || isIn(w.Until)
		})
		if hasEdge {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b schedule.Key) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Key, b.Key))
	})
	return keys
}

func TestManyRulesWithEdgesCostNothingBetweenThem(t *testing.T) {
	const n = 50_000
	rules := make(map[schedule.Key]resolver.Rule, n)
	for i := range n {
		key := fmt.Sprint("k", i)
		rules[schedule.Key{Source: 1, Key: key}] = schedule.Join(key, resolver.Position{},
			[]schedule.Window{{
				Since: schedule.Begin, Until: schedule.Time(10 * (i + 1)), Rule: resolver.Rule{Value: "/x"},
			}})
	}
	table := schedule.New(rules)
	allocations := testing.AllocsPerRun(100, func() {
		at := schedule.Time(rand.N(10 * n))
		from, until := table.Span(at)
		if from > at || until <= at || until-from != 10 && from != schedule.Begin {
			t.Errorf("at %d nothing changes from %d until %d", at, from, until)
		}
	})
	if allocations > 0 {
		t.Errorf("a look at the clock allocates %v times", allocations)
	}
	key := schedule.Key{Source: 1, Key: "k7"}
	if got := table.Between(70, 80); !slices.Equal(got, []schedule.Key{key}) {
		t.Errorf("at the edge %v change", got)
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2027-03-01", "2027-03-01T18:00:00+01:00", "2027-03-01 10:00", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := schedule.ParseTime(text)
		if err != nil {
			return
		}
		again, err := schedule.ParseTime(at.String())
		if err != nil || again != at {
			t.Errorf("%q is written as %s: %v", text, at, err)
		}
	})
}
