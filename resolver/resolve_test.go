package resolver

import (
	"errors"
	"testing"
)

// resolve returns the destination apart from the rest of the result.
func resolve(rs *Ruleset, requestURL string) (destination string, result Result) {
	result = rs.Resolve(requestURL)
	destination, result.Destination = result.Destination, ""
	return destination, result
}

// sameAnswer compares two answers; of errors only what the draft knows of them.
func sameAnswer(t *testing.T, rules []Rule, opts Options, request string) {
	t.Helper()
	rs, err := Compile(rules, opts)
	if err != nil {
		t.Fatalf("compile %+v: %v", rules, err)
	}
	got, result := resolve(rs, request)
	want, plain := plainResolve(request, rules, opts)
	if plain.Err == errGivesUp {
		return
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
}

func TestTheCompiledRulesetAnswersAsThePseudocodeDoes(t *testing.T) {
	for seed := range seeds(4000) {
		r := newRandom(seed)
		opts := r.options()
		rules := r.ruleset(opts)
		for range 10 {
			sameAnswer(t, rules, opts, r.mutated(r.requestURL(rules)))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
