package history

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
)

// BenchmarkHistory asks for 100 changes of 10,000 keys each.
func BenchmarkHistory(b *testing.B) {
	const changes, keys = 100, 10_000
	s := NewStore("bench")
	s.KeepIn(b.Context(), newMemory(), zap.NewNop(), DefaultKept)
	b.Cleanup(s.End)
	at := func(change int) string { return digest(fmt.Sprintf("%03d", change)) }
	value := func(i, generation int) json.RawMessage {
		return fmt.Appendf(nil, `"https://www.example.com/articles/%027d/%d"`, i*7919, generation)
	}
	for c := range changes {
		s.Record(Change{
			Time: time.Now(), Old: at(c), New: at(c + 1), Changed: keys,
		}, func(yield func(KeyChange) bool) {
			for i := range keys {
				if !yield(KeyChange{fmt.Sprintf("key%09d", i), value(i, c), value(i, c+1)}) {
					return
				}
			}
		})
		if err := s.use(b.Context(), (*visit).storePending); err != nil {
			b.Fatal(err)
		}
	}
	for name, ask := range map[string]func() error{
		"list": func() error { _, err := s.List(b.Context(), nil); return err },
		"key": func() error {
			all, err := s.List(b.Context(), func(key string) bool { return key == "key000000007" })
			if err == nil && len(all) != changes {
				err = fmt.Errorf("%d changes", len(all))
			}
			return err
		},
		"way": func() error {
			_, err := s.Way(b.Context(), at(changes), at(0), func(KeyChange) {})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
