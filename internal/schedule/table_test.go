package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// randomRule returns a rule with windows between the seconds 0 and 100.
func randomRule(key string) resolver.Rule {
	var windows []Window
	for n, from := rand.N(3)+1, rand.N(50); n > 0; n-- {
		until := from + 1 + rand.N(20)
		windows = append(windows, Window{
			Since: Time(from), Until: Time(until), Rule: resolver.Rule{Value: "/" + key},
		})
		from = until + rand.N(5)
	}
	return Join(key, resolver.Position{}, windows)
}

func TestATableThatIsChangedIsOneThatIsMadeAnew(t *testing.T) {
	var changed *table
	rules := map[place]*resolver.Rule{}
	for round := range 30 {
		changes := map[place]*resolver.Rule{}
		for range rand.N(100) {
			at := place{fmt.Sprint("k", rand.N(2000)), rand.N(2)}
			if rule := randomRule(at.key); rand.N(3) > 0 {
				changes[at], rules[at] = &rule, &rule
			} else {
				changes[at] = nil
				delete(rules, at)
			}
		}
		before := changed.all()
		next := changed.with(changes)
		if !maps.Equal(changed.all(), before) {
			t.Fatalf("round %d: a table is changed by the one that is made of it", round)
		}
		changed = next
		var none *table
		anew := none.with(rules)
		if !maps.Equal(changed.all(), anew.all()) || changed.len() != len(rules) {
			t.Fatalf("round %d: it has %d rules, want %d", round, changed.len(), len(rules))
		}
		for range 5 {
			a, b := Time(rand.N(120)), Time(rand.N(120))
			from, until := changed.span(a)
			if f, u := anew.span(a); f != from || u != until {
				t.Fatalf("nothing changes from %v until %v, want %v until %v", from, until, f, u)
			}
			got := changed.between(a, b)
			slices.SortFunc(got, place.compare)
			if got = slices.Compact(got); !slices.Equal(got, changing(rules, a, b)) {
				t.Fatalf("from %d to %d %v change", a, b, got)
			}
		}
	}
}

// all returns all rules.
func (t *table) all() map[place]resolver.Rule {
	all := map[place]resolver.Rule{}
	t.from("", func(w written) bool { all[w.place] = *w.rule; return true })
	return all
}

// changing returns the places whose rule has an edge between two instants.
func changing(rules map[place]*resolver.Rule, a, b Time) (places []place) {
	for at, rule := range rules {
		hasEdge := slices.ContainsFunc(Split(*rule), func(w Window) bool {
			isIn := func(t Time) bool { return min(a, b) < t && t <= max(a, b) }
			return isIn(w.Since) || isIn(w.Until)
		})
		if hasEdge {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, place.compare)
	return places
}

func TestManyRulesWithEdgesCostNothingBetweenThem(t *testing.T) {
	const n = 50_000
	rules := make(map[place]*resolver.Rule, n)
	for i := range n {
		key := fmt.Sprint("k", i)
		rule := Join(key, resolver.Position{}, []Window{{
			Since: Begin, Until: Time(10 * (i + 1)), Rule: resolver.Rule{Value: "/x"},
		}})
		rules[place{key, 1}] = &rule
	}
	var none *table
	table := none.with(rules)
	at, r := Time(0), Rules{from: 10, until: 20}
	if allocations := testing.AllocsPerRun(100, func() { r.IsFor(at) }); allocations > 0 {
		t.Errorf("a look at the clock allocates %v times", allocations)
	}
	for range 100 {
		at := Time(rand.N(10 * n))
		from, until := table.span(at)
		if from > at || until <= at || until-from != 10 && from != Begin {
			t.Errorf("at %d nothing changes from %d until %d", at, from, until)
		}
	}
	if got := table.between(70, 80); !slices.Equal(got, []place{{"k7", 1}}) {
		t.Errorf("at the edge %v change", got)
	}
}
