package lint

import (
	"fmt"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// BenchmarkRule is what a look at a rule costs that gives no reason to warn, as nearly all do.
func BenchmarkRule(b *testing.B) {
	rules := make([]resolver.Rule, 1000)
	for i := range rules {
		rules[i] = resolver.Rule{
			Key:   fmt.Sprintf("team/link-%d", i),
			Value: fmt.Sprintf("https://www.example.com/some/page/%d?x=%d", i, i),
		}
	}
	list := New(resolver.Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		list.Add(0, rules[i%len(rules)])
	}
}
