package hits

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
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

// millionKeys starts a server with a million keys, which were used on each of the last days.
func millionKeys(b *testing.B) *calendar {
	var keys []string
	var texts [shards][]byte
	for n := range texts {
		texts[n] = []byte(entryStart + "{}\n")
	}
	l := &line{Count: Count{N: 90 * 60, minute: minuteOf(noon)}}
	for i := range l.days {
		l.days[i] = uint64(i * 4 / 3)
	}
	for i := range 1_000_000 {
		l.key = fmt.Appendf(nil, "docs/team-%03d/page-%d", i%1000, i)
		n := shardOf(l.key)
		keys, texts[n] = append(keys, string(l.key)), l.append(texts[n])
	}
	storage := &certmagic.FileStorage{Path: b.TempDir()}
	c := newCalendar(b, storage, "one", keys...)
	today := startEntry(c.header())
	var err error
	for n, text := range texts {
		texts[n] = nil
		entry := c.store.entry("one", shardName(n))
		err = errors.Join(err, storage.Store(b.Context(), entry, endEntry(text)))
	}
	err = errors.Join(err, storage.Store(b.Context(), c.store.entry("one", "today"), endEntry(today)))
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// countingStorage counts the bytes that are stored.
type countingStorage struct {
	certmagic.Storage
	stored int
}

func (s *countingStorage) Store(ctx context.Context, key string, value []byte) error {
	s.stored += len(value)
	return s.Storage.Store(ctx, key, value)
}

// BenchmarkKeep is what a server with a million used keys does after a start, each minute, and when
// a day is over, in which all or one in a hundred were used.
func BenchmarkKeep(b *testing.B) {
	c := millionKeys(b)
	bench := func(name string, before func()) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				before()
				storage := &countingStorage{Storage: c.storage}
				c.store.use(storage, zap.NewNop())
				c.store.isMoved = false
				debug.FreeOSMemory()
				room := heap()
				b.StartTimer()
				if err := c.keep(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(heap()-room)/1e6, "MB-more")
				b.ReportMetric(float64(storage.stored)/1e6, "MB-stored")
			}
		})
	}
	hit := func(step int) {
		for i := 0; i < len(c.words); i += step {
			c.RulesetCounters.Count(i)
		}
	}
	days := 0
	tomorrow := func() {
		days++
		c.at(days, 0)
	}
	ruleset := c.ruleset
	bench("start", func() {
		c.Counters = NewCounters(c.now)
		c.RulesetCounters = c.Begin(ruleset)
		c.store = newStore("links", "one", c.storage, zap.NewNop())
	})
	bench("minute/hundredth", func() { hit(100) })
	bench("day/hundredth", func() { hit(100); tomorrow() })
	bench("minute/all", func() { hit(1) })
	bench("day/all", func() { hit(1); tomorrow() })
}

// heap returns how much memory the heap has of the system.
func heap() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapSys - stats.HeapReleased)
}
