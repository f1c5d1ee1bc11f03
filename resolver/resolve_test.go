package resolver

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// resolve returns the destination apart from the rest of the result.
func resolve(rs *Ruleset, requestURL string) (destination string, result Result) {
	result = rs.Resolve(requestURL)
	destination, result.Destination = result.Destination, ""
	return destination, result
}

// sameAnswer fails if a ruleset and the plain algorithm answer a request differently. Of errors it
// compares only what the draft knows of them. It returns false if the plain algorithm gives up.
func sameAnswer(t *testing.T, rs *Ruleset, rules []Rule, opts Options, request string) bool {
	t.Helper()
	got, result := resolve(rs, request)
	want, plain := plainResolve(request, rules, opts)
	if plain.Err == errGivesUp {
		return false
	}
	if result.Outcome == Failed && plain.Outcome == Failed && errors.Is(result.Err, plain.Err) {
		result.Err = plain.Err
	}
	if plain.Key != "" {
		plain.Rule, _ = rs.NumberOf(plain.Key)
	}
	if got != want || result != plain {
		t.Errorf("rules %+v\noptions %+v\nrequest %q\ncompiled %q %+v\nplain    %q %+v", rules,
			opts, request, got, result, want, plain)
	}
	return true
}

func TestTheCompiledRulesetAnswersAsThePseudocodeDoes(t *testing.T) {
	for seed := range seeds(4000) {
		checkAnswers(t, seed, 10)
	}
}

func TestAMillionRandomRequestsAreAnsweredAsThePseudocodeAnswers(t *testing.T) {
	if os.Getenv("SHORTLINK_SLOW") == "" {
		t.Skip("it takes minutes; set SHORTLINK_SLOW=1 to run it")
	}
	const parts, each, asked = 2, 25, 1_000_000
	for part := range uint64(parts) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			answered := map[Outcome]int{}
			for seed := part; seed < asked/each/2; seed += parts {
				checkAnswers(t, seed, each)
				checkTemplateAnswers(t, seed, each, answered)
			}
		})
	}
}

// checkAnswers compares the answers of random rules to random requests.
func checkAnswers(t *testing.T, seed uint64, requests int) {
	t.Helper()
	r := newRandom(seed)
	opts := r.options()
	rules := r.ruleset(opts)
	rs := mustCompile(t, rules, opts)
	for range requests {
		request := r.mutated(r.requestURL(rules))
		if !sameAnswer(t, rs, rules, opts, request) {
			t.Errorf("the plain algorithm gives up at %q", request)
		}
	}
	if t.Failed() {
		t.Fatalf("seed %d", seed)
	}
}
