package resolver

import (
	"fmt"
	"sync"
	"testing"
)

func TestARulesetAnswersManyAtOnceAsItAnswersOne(t *testing.T) {
	r := newRandom(1)
	opts := Options{Query: QueryMerge, Protect: []string{"a"}, FoldCase: true}
	rules := append(r.ruleset(opts), Rule{Key: "hit", Value: "https://x.example/?a=1&b=2"},
		Rule{Key: "loop", Value: "/loop/x"})
	rs := mustCompile(t, rules, opts)
	requests := []string{"https://go.example/HIT/%41" + hostileQuery(), "https://go.example/loop",
		"https://go.example/hit/..%2f"}
	for range 200 {
		requests = append(requests, r.mutated(r.requestURL(rules)))
	}
	want := make([]string, len(requests))
	for i, request := range requests {
		want[i] = fmt.Sprint(resolve(rs, request))
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 2 * len(requests) {
				at := (i*7 + worker) % len(requests)
				if got := fmt.Sprint(resolve(rs, requests[at])); got != want[at] {
					t.Errorf("%s: %s, want %s", requests[at], got, want[at])
				}
			}
			for range rs.Rules() {
			}
			_ = rs.Size()
		})
	}
	group.Wait()
}
