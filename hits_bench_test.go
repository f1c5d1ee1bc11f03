package shortlink

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
	c := newHitCounters(noon).begin(rulesetOf(b, keys...))
	n, _ := c.ruleset.NumberOf("key7")
	b.Run("one", func(b *testing.B) {
		for range b.N {
			c.count(n)
		}
	})
	b.Run("spread", func(b *testing.B) {
		for i := range b.N {
			c.count(i % len(c.words))
		}
	})
	b.Run("two_at_once", func(b *testing.B) {
		var workers atomic.Int64
		b.SetParallelism(1)
		b.RunParallel(func(pb *testing.PB) {
			at := int(workers.Add(1)) * 100
			for pb.Next() {
				c.count(at)
			}
		})
	})
}
