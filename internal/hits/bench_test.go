package hits

import (
	"fmt"
	"sync/atomic"
	"testing"
)

func BenchmarkCount(b *testing.B) {
	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprint("key", i))
	}
	c := NewCounters(noon).Begin(rulesetOf(b, keys...))
	n, _ := c.ruleset.NumberOf("key7")
	b.Run("one", func(b *testing.B) {
		for range b.N {
			c.Count(n)
		}
	})
	b.Run("spread", func(b *testing.B) {
		for i := range b.N {
			c.Count(i % len(c.words))
		}
	})
	b.Run("two_at_once", func(b *testing.B) {
		var workers atomic.Int64
		b.SetParallelism(1)
		b.RunParallel(func(pb *testing.PB) {
			at := int(workers.Add(1)) * 100
			for pb.Next() {
				c.Count(at)
			}
		})
	})
}
