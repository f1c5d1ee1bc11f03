//go:build !race

package resolver

import (
	"strings"
	"testing"
)

// Not under the race detector, which lets a sync.Pool forget at random.
func TestAnsweringAllocatesNothing(t *testing.T) {
	rules := []Rule{
		{Key: "hit", Value: "https://x.example/a?utm_source=x&b=2#top"},
		{Key: "plain", Value: "https://x.example/a"},
		{Key: "in", Value: "/in2?embedded=1#f"},
		{Key: "own", Value: "/in?flag", Query: QueryIgnore},
		{Key: "kept", Value: "https://x.example/a?b", Query: QueryPreserve},
		{Key: "loop", Value: "/loop"},
		{Key: "old", Value: "gone"},
		{Key: "hit/api", Value: "pass"},
		{Key: "café/%2F", Value: "https://x.example/a"},
		{Key: strings.Repeat("d/", 20) + "end", Value: "https://x.example/a"},
	}
	for _, test := range []struct {
		name, target string
		opts         Options
		want         Outcome
	}{
		{"a hit", "/hit", Options{}, Redirect},
		{"a remaining path", "/hit/guide/install", Options{}, Redirect},
		{"a query", "/hit?page=2&utm_source=mail", Options{}, Redirect},
		{"a query that the destination has none beside", "/plain?page=2&utm_source=mail", Options{},
			Redirect},
		{"a query of many names", "/hit" + hostileQuery(), Options{}, Redirect},
		{"a query with escapes", "/hit?a=%C3%A9+%26&%62=3", Options{}, Redirect},
		{"a query that is preserved", "/hit?page=2&utm_source=mail", Options{Query: QueryPreserve},
			Redirect},
		{"a query of many names that is preserved", "/hit" + hostileQuery(),
			Options{Query: QueryPreserve}, Redirect},
		{"a query that is ignored", "/hit?page=2", Options{Query: QueryIgnore}, Redirect},
		{"a rule that ignores queries", "/own/rest?page=2", Options{}, Redirect},
		{"a rule that preserves queries", "/kept?page=2&b", Options{}, Redirect},
		{"protected parameters", "/hit?page=2&b=3", Options{Protect: []string{"b"}}, Redirect},
		{"a percent-encoded key", "/caf%c3%a9/%2f/rest", Options{}, Redirect},
		{"a percent-encoded remaining path", "/hit/%41%2f%25", Options{}, Redirect},
		{"a percent sign alone", "/hit/100%", Options{}, Redirect},
		{"folded case", "/HIT/Rest", Options{FoldCase: true}, Redirect},
		{"an internal destination", "/in/rest?q", Options{}, Redirect},
		{"an internal destination with an origin", "/in/rest?q",
			Options{Origin: "https://go.example"}, Redirect},
		{"a miss", "/nobody/has/this", Options{}, Pass},
		{"a percent-encoded miss", "/nobody%20has/this", Options{}, Pass},
		{"a loop", "/loop/a", Options{}, Failed},
		{"a key that is gone", "/old/a%20b", Options{}, Gone},
		{"a key that passes", "/hit/api/a%20b", Options{}, Pass},
		{"an unsafe path", "/hit/..%2f", Options{}, Failed},
		{"a deep path", "/hit" + strings.Repeat("/s", 8000), Options{}, Redirect},
		{"a deep path to a deep key",
			"/" + strings.Repeat("d/", 20) + "end" + strings.Repeat("/", 8000), Options{},
			Redirect},
		{"a deep path with an escape", "/hit/%41" + strings.Repeat("/s", 8000), Options{},
			Redirect},
		{"a deep path with folded case", "/HIT" + strings.Repeat("/S", 8000),
			Options{FoldCase: true}, Redirect},
		{"a deep miss", strings.Repeat("/", 16000), Options{}, Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mustCompile(t, rules, test.opts)
			request := requestTo("go.example", test.target)
			buffer := make([]byte, 0, 128<<10)
			var result Result
			n := testing.AllocsPerRun(20,
				func() { _, result = rs.AppendDestination(buffer, request) })
			if n != 0 || result.Outcome != test.want {
				t.Errorf("%v allocations, %+v", n, result)
			}
		})
	}
}
