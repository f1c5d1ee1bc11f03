package find

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// BenchmarkIndex is of rules with keys of 12 bytes and URLs of 60: keys that have little in common,
// numbered ones, and ones of two segments.
func BenchmarkIndex(b *testing.B) {
	mixed := func(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }
	for _, of := range []struct {
		name string
		n    int
		key  func(int) string
	}{
		{"mixed", 1000, mixed},
		{"mixed", 1_000_000, mixed},
		{"numbered", 1_000_000, func(i int) string { return fmt.Sprintf("page-%07d", i) }},
		{"segments", 1_000_000, func(i int) string {
			return fmt.Sprintf("t%02d/%08x", i%100, uint32(i)*2654435761)
		}},
	} {
		b.Run(fmt.Sprint(of.name, "/", of.n), func(b *testing.B) {
			var rules []resolver.Rule
			for i := range of.n {
				value := fmt.Sprintf("https://www.example.com/articles/%027d", i)
				rules = append(rules, resolver.Rule{Key: of.key(i), Value: value})
			}
			benchIndex(b, compile(b, resolver.Options{NoLines: true}, rules...), of.key)
		})
	}
}

func benchIndex(b *testing.B, ruleset *resolver.Ruleset, key func(int) string) {
	x := New(func() {})
	benchMake(b, "keys", x.makeKeys, ruleset)
	benchMake(b, "near", x.near.make, ruleset)
	x.makeNow(ruleset)
	middle := key(ruleset.Len() / 2)
	for name, of := range map[string][2]string{
		"page": {middle[:1], middle}, "nothing": {"nowhere", ""},
	} {
		b.Run("search/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Search(b.Context(), ruleset,
					Query{Text: of[0], Behind: Place{Key: of[1]}, Most: 100})
			}
		})
	}
	for name, query := range map[string]Query{
		"nothing": {Text: "nowhere now"}, "accents": {Text: "é"},
		"uses": {Text: "nowhere", Uses: func(number int) uint64 { return uint64(number) % 1000 }},
	} {
		b.Run("walk/"+name, func(b *testing.B) {
			benchWalk(b, x, ruleset, query)
		})
	}
	b.Run("suggest/index", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			word := []byte(key(i % ruleset.Len()))
			word[5] = '_'
			suggest(x, ruleset, string(word))
		}
	})
	b.Run("suggest/all", func(b *testing.B) {
		listed := Listed{Ruleset: ruleset}
		for i := 0; b.Loop(); i++ {
			word := []byte(key(i % ruleset.Len()))
			word[5] = '_'
			listed.Suggest(string(word), 5)
		}
	})
	b.Run("follow", func(b *testing.B) {
		rule := resolver.Rule{Key: "new", Value: "https://x.example/"}
		next, _, err := ruleset.With([]resolver.RuleChange{{Key: "new", Rule: &rule}})
		if err != nil {
			b.Fatal(err)
		}
		k, w := x.keys.now.Load(), x.near.now.Load()
		b.ReportAllocs()
		for b.Loop() {
			x.keys.now.Store(k)
			x.near.now.Store(w)
			x.Follow(next)
		}
	})
}

// benchWalk searches to the end, step by step.
func benchWalk(b *testing.B, x *Index, ruleset *resolver.Ruleset, query Query) {
	steps, longest := 0, time.Duration(0)
	for query.Most = 100; b.Loop(); {
		query.Behind = Place{}
		for isLate := true; isLate; steps++ {
			start := time.Now()
			found := x.Search(b.Context(), ruleset, query)
			query.Behind, isLate = found.Next, found.Late
			longest = max(longest, time.Since(start))
		}
	}
	b.ReportMetric(float64(steps)/float64(b.N), "steps")
	b.ReportMetric(float64(longest.Milliseconds()), "ms-longest")
}

// benchMake makes a part, and tells what it holds.
func benchMake[T any](
	b *testing.B, name string, make func(*resolver.Ruleset) T, ruleset *resolver.Ruleset,
) {
	b.Run("make/"+name, func(b *testing.B) {
		before := memory()
		var made T
		for b.Loop() {
			made = make(ruleset)
		}
		b.ReportMetric((memory()-before)/float64(ruleset.Len()), "bytes/rule")
		runtime.KeepAlive(made)
	})
}

// memory returns how many bytes are in use.
func memory() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
