package schedule

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

func TestMeasure(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip()
	}
	for _, n := range []int{200_000, 1_000_000} {
		for _, kind := range []string{"absolute", "internal"} {
			edges := 10_000
			if n >= 200_000 {
				edges = n
				if kind == "internal" {
					continue
				}
			}
			begun := time.Now()
			c, _ := NewCompiler(resolver.Options{NoLines: true, Digest: true}, 0)
			for i := range n {
				value := "https://x.example/a"
				if kind == "internal" && i > 0 {
					value = fmt.Sprint("/k", i/2)
				}
				key := fmt.Sprint("k", i)
				var w []Window
				per := max(1, edges/n)
				switch {
				case i < edges:
					since := Begin
					for j := range per {
						w = append(w, Window{since, Time(1 + i*per + j), resolver.Rule{Value: value}})
						since = Time(1 + i*per + j)
					}
					w = append(w, Window{since, End, resolver.Rule{Value: value + "/x"}})
				default:
					w = []Window{Always(resolver.Rule{Value: value})}
				}
				c.Add(Join(key, resolver.Position{}, w))
			}
			r, err := c.Compile()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d %s: compiled in %s", n, kind, time.Since(begun))
			begun = time.Now()
			r.Digest()
			t.Logf("%d %s: digest in %s", n, kind, time.Since(begun))
			begun = time.Now()
			rule := Join("k7", resolver.Position{}, []Window{{Begin, 99, resolver.Rule{Value: "/z"}}})
			if _, err := r.With([]resolver.RuleChange{{Source: 0, Key: "k7", Rule: &rule}}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d %s: edit in %s", n, kind, time.Since(begun))
			begun = time.Now()
			i, before := 0, r.Ruleset
			var broken time.Duration
			for next := range r.Ahead() {
				b := time.Now()
				lint.Broken(next.Ruleset, []*resolver.Ruleset{before}, 10)
				broken += time.Since(b)
				before = next.Ruleset
				if i++; i == 10_000 || time.Since(begun) > 20*time.Second {
					break
				}
			}
			t.Logf("%d %s: %d edges in %s, of which broken %s", n, kind, i, time.Since(begun), broken)
		}
	}
}
