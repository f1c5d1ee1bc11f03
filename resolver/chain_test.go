package resolver

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

func TestAsManyRedirectsPassAsTheLimitSaysAndOneMoreIsAnError(t *testing.T) {
	for _, limit := range []int{0, 1, 2, 17, 254, 255} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			opts := Options{MaxRedirects: &limit}
			if limit == MaxRedirects {
				opts = Options{}
			}
			rs := mustCompile(t, chainOf(limit+2, "https://x.example"), opts)
			if got, result := resolve(rs,
				"https://go.example/c1/z"); got != "https://x.example/z" || result.Hops != limit {
				t.Errorf("%d redirects: %q %+v", limit, got, result)
			}
			if got, result := resolve(rs, "https://go.example/c0/z"); got != "" ||
				result.Outcome != Failed || result.Err != ErrTooManyRedirects ||
				result.Key != "c0" {
				t.Errorf("%d redirects: %q %+v", limit+1, got, result)
			}
			var failing []string
			for number, err := range rs.Failures() {
				if failing = append(failing, rs.KeyOf(number)); err != ErrTooManyRedirects {
					t.Error(err)
				}
			}
			if !slices.Equal(failing, []string{"c0"}) {
				t.Errorf("these keys fail: %q", failing)
			}
		})
	}
}

func TestAChainThatEndsWithoutAMatchHasOneRedirectMore(t *testing.T) {
	rs := mustCompile(t, chainOf(256, "/nowhere"), Options{})
	if got, result := resolve(rs, "https://go.example/c1"); got != "https://go.example/nowhere" ||
		result.Hops != 255 {
		t.Errorf("%q %+v", got, result)
	}
	if _, result := resolve(rs, "https://go.example/c0"); result.Err != ErrTooManyRedirects {
		t.Errorf("%+v", result)
	}
}

func TestAChainIsTheSameInWhateverOrderItsRulesAreAdded(t *testing.T) {
	rules := chainOf(300, "https://x.example")
	for i := range rules {
		rules[i].Value += fmt.Sprintf("/s?q%d=%d", i%7, i)
	}
	want := slices.Collect(answers(mustCompile(t, rules, Options{}), rules))
	for seed := range uint64(5) {
		shuffled := slices.Clone(rules)
		newRandom(seed).Shuffle(len(rules),
			func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := slices.Collect(answers(mustCompile(t, shuffled, Options{}),
			rules)); !slices.Equal(got, want) {
			t.Fatalf("seed %d: another answer", seed)
		}
	}
}

// answers are those to requests for the keys of rules.
func answers(rs *Ruleset, rules []Rule) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, rule := range rules {
			destination, result := resolve(rs, "https://go.example/"+rule.Key+"/r?x=1")
			result.Rule = 0 // which depends on the order
			if !yield(fmt.Sprintf("%s %+v", destination, result)) {
				return
			}
		}
	}
}

func TestALoopIsTheDraftsErrorWithItsKeysInTheOrderOfTheHops(t *testing.T) {
	rules := []Rule{
		{Key: "a", Value: "/B/x"},
		{Key: "B", Value: "/%63?q=1"},
		{Key: "c", Value: "/a#f"},
		{Key: "feeder", Value: "/c"},
		{Key: "self", Value: "/self/below"},
	}
	rs := mustCompile(t, rules, Options{})
	for _, test := range []struct {
		request string
		cycle   []string
		message string
	}{
		{"a", []string{"B", "c", "a"}, "too many internal redirects: loop B -> c -> a -> B"},
		{"c/below?x#y", []string{"B", "c", "a"},
			"too many internal redirects: loop B -> c -> a -> B"},
		{"feeder", []string{"B", "c", "a"}, "too many internal redirects: loop B -> c -> a -> B"},
		{"self", []string{"self"}, "too many internal redirects: loop self -> self"},
	} {
		t.Run(test.request, func(t *testing.T) {
			_, result := resolve(rs, "https://go.example/"+test.request)
			loop, ok := errors.AsType[*LoopError](result.Err)
			if !ok || !errors.Is(result.Err, ErrTooManyRedirects) ||
				!errors.Is(result.Err, ErrLoop) {
				t.Fatalf("%+v", result)
			}
			if !slices.Equal(loop.Cycle, test.cycle) || loop.Error() != test.message {
				t.Errorf("%q %v\nwant %q %s", loop.Cycle, loop, test.cycle, test.message)
			}
		})
	}
}

func TestAnUnsafePathIsRefusedBeforeLoopsAndLimits(t *testing.T) {
	none := 0
	rs := mustCompile(t, []Rule{{Key: "loop", Value: "/loop"}, {Key: "long", Value: "/x"}},
		Options{MaxRedirects: &none})
	for _, request := range []string{"loop/..%2f", "long/%00"} {
		if _, result := resolve(rs, "https://go.example/"+request); result.Err != ErrUnsafePath {
			t.Errorf("%s: %+v", request, result)
		}
	}
}

func TestTheStatusesOfAChainAreCombined(t *testing.T) {
	for _, test := range []struct {
		name     string
		statuses []int // of the rules of a chain, the first one first; 0 is the default
		def      int
		want     int
	}{
		{"the default", []int{0}, 0, 302},
		{"a default of one's own", []int{0}, 307, 307},
		{"a rule's own before the default", []int{301}, 307, 301},
		{"301 throughout", []int{301, 301, 301}, 0, 301},
		{"302 throughout", []int{302, 302}, 0, 302},
		{"303 throughout", []int{303, 303}, 0, 303},
		{"307 throughout", []int{307, 307}, 0, 307},
		{"308 throughout", []int{308, 308}, 0, 308},
		{"permanent but for the last", []int{301, 301, 0}, 0, 302},
		{"permanent but for the first", []int{302, 301, 301}, 0, 302},
		{"permanent, once preserving", []int{301, 308, 301}, 0, 308},
		{"permanent, preserving at the end", []int{301, 301, 308}, 0, 308},
		{"permanent, then 307", []int{301, 307}, 0, 307},
		{"308, then 302", []int{308, 302}, 0, 307},
		{"302, then 308", []int{302, 308}, 0, 307},
		{"308, then 303", []int{308, 303}, 0, 307},
		{"301, then 303", []int{301, 303}, 0, 302},
		{"303, then 308", []int{303, 308}, 0, 303},
		{"303, then 301", []int{303, 301, 301}, 0, 303},
		{"303 as the default", []int{0, 308}, 303, 303},
		{"303 as the default of later rules", []int{301, 0}, 303, 302},
		{"permanent as the default", []int{0, 308}, 301, 308},
	} {
		for end, to := range map[string]string{"to a URL": "https://x.example",
			"to the site itself": "/nowhere"} {
			t.Run(test.name+" "+end, func(t *testing.T) {
				rules := chainOf(len(test.statuses), to)
				for i, status := range test.statuses {
					rules[i].Status = status
				}
				_, result := resolve(mustCompile(t, rules, Options{Status: test.def}),
					"https://go.example/c0")
				if result.Status != test.want {
					t.Errorf("status %d, want %d", result.Status, test.want)
				}
			})
		}
	}
}

func TestAChainBeyondTheLimitTakesMemoryInProportionToItsRules(t *testing.T) {
	bytesFor := func(n int) uint64 {
		rules := make([]Rule, n)
		for i := range rules {
			rules[i] = Rule{Key: fmt.Sprint("k", i), Value: fmt.Sprintf("/k%d/appended", i+1)}
		}
		return allocated(func() { mustCompile(t, rules, Options{}) })
	}
	if few, many := bytesFor(2000), bytesFor(8000); many > 6*few {
		t.Errorf("%d bytes for 2000 rules, %d for 8000", few, many)
	}
}

// allocated returns how many bytes a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
