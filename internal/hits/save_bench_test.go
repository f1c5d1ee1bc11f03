package hits

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"go.uber.org/zap"
)

func million(b *testing.B) []string {
	var names []string
	for i := range 1_000_000 {
		names = append(names, fmt.Sprintf("team%d/link%d", i%100, i))
	}
	return names
}

func peak(b *testing.B, what func()) {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		for {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
			select {
			case <-stop:
				done <- most
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	began := time.Now()
	what()
	took := time.Since(began)
	close(stop)
	most := <-done
	runtime.GC()
	runtime.ReadMemStats(&now)
	b.ReportMetric(float64(took.Milliseconds()), "ms")
	b.ReportMetric(float64(most-min(most, before.HeapAlloc))/(1<<20), "MiB-peak")
	b.ReportMetric((float64(now.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "MiB-kept")
}

type nowhere struct{ *drawer }

// BenchmarkAMillion: every rule hit each day.
func BenchmarkAMillion(b *testing.B) {
	storage := newDrawer()
	c := newCalendar(b, storage, "one", million(b)...)
	c.store = newStore("links", "one", storage, zap.NewNop())

	all := func(every int) {
		for n := range c.words {
			if n%every == 0 && c.ruleset.KeyOf(n) != "" {
				c.RulesetCounters.add(n, Count{1 + uint64(n%20), minuteOf(c.now)}.word()|changed)
			}
		}
	}
	size := func() float64 {
		sum := 0
		for _, e := range storage.entries {
			sum += len(e)
		}
		return float64(sum) / (1 << 20)
	}
	for d := range 20 {
		c.at(d, 12)
		all(1)
		c.mustKeep()
		c.at(d+1, 0)
		c.mustKeep()
	}
	c.at(20, 12)
	all(10)
	b.Run("minute-tenth", func(b *testing.B) {
		for b.Loop() {
			peak(b, func() { c.mustKeep() })
			all(1000)
		}
	})
	all(1)
	b.Run("minute-all", func(b *testing.B) { peak(b, func() { c.mustKeep() }) })
	all(100)
	b.Run("minute-after", func(b *testing.B) { peak(b, func() { c.mustKeep() }) })
	c.at(21, 0)
	b.Run("midnight", func(b *testing.B) { peak(b, func() { c.mustKeep() }); b.ReportMetric(size(), "MiB-stored") })
	b.Run("restart", func(b *testing.B) {
		peak(b, func() {
			c.store = newStore("links", "one", storage, zap.NewNop())
			c.Counters = NewCounters(c.now)
			c.RulesetCounters = c.Begin(c.ruleset)
			c.mustKeep()
		})
	})
	b.Run("days-of-all", func(b *testing.B) { peak(b, func() { c.daysOf("") }) })
	b.Run("days-of-key", func(b *testing.B) { peak(b, func() { c.daysOf("team7/link7") }) })
	b.Run("others", func(b *testing.B) {
		s := newStore("links", "two", storage, zap.NewNop())
		peak(b, func() { s.others(b.Context(), c.ruleset) })
	})
}
