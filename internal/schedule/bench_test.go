package schedule

import (
	"fmt"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// benchRules compiles n rules, of which the first many have a window that ends at a second of its
// own, and lead to value.
func benchRules(b *testing.B, n, many int, value func(i int) string) Rules {
	b.Helper()
	c, err := NewCompiler(resolver.Options{NoLines: true, Digest: true}, 0)
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		w := Always(resolver.Rule{Value: value(i)})
		if i < many {
			w.Until = Time(i + 1)
		}
		c.Add(Join(fmt.Sprint("k", i), resolver.Position{}, []Window{w}))
	}
	rules, err := c.Compile()
	if err != nil {
		b.Fatal(err)
	}
	return rules
}

var benchKinds = map[string]func(i int) string{
	"absolute": func(int) string { return "https://x.example/a" },
	"internal": func(i int) string {
		if i%2 == 0 {
			return "https://x.example/a"
		}
		return fmt.Sprint("/k", i-1)
	},
}

// BenchmarkTurn is an edge: a rule ends.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for kind, value := range benchKinds {
			b.Run(fmt.Sprintf("rules=%d/%s", n, kind), func(b *testing.B) {
				rules := benchRules(b, n, min(n, 10_000), value)
				b.ReportAllocs()
				for b.Loop() {
					if next, err := rules.Turn(rules.until); err != nil || next.Ruleset.Len() != n-1 {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWindows compiles rules that all have windows, and makes their digest.
func BenchmarkWindows(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("rules=%d/compile", n), func(b *testing.B) {
			for b.Loop() {
				benchRules(b, n, n, benchKinds["absolute"])
			}
		})
		b.Run(fmt.Sprintf("rules=%d/digest", n), func(b *testing.B) {
			rules := benchRules(b, n, n, benchKinds["absolute"])
			for b.Loop() {
				rules.Digest()
			}
		})
	}
}
