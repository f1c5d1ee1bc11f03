//go:build !race

package reverse

// Not under the race detector, which lets a sync.Pool forget at random.

import (
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestAPageWithoutAShortURLCostsNoAllocation(t *testing.T) {
	x := New(compile(t, append(benchRules(1000),
		resolver.Rule{Key: "s/{id}", Value: "https://www.example.com/story/{id}"},
		resolver.Rule{Key: "h", Value: "/"}), resolver.Options{}))
	for _, target := range []string{"/docs/guide/install", "/story/17/a?b=c", "/caf%C3%A9", "/"} {
		page, _ := resolver.NewRequest("https", "www.example.com", target)
		page.OverHTTP = true
		dst := make([]byte, 0, 256)
		if n := testing.AllocsPerRun(100, func() {
			if _, ok := x.AppendShortURL(dst, &page, "https://go.example"); ok {
				t.Error(target)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}
