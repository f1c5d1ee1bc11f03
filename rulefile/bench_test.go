package rulefile_test

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

var benchSizes = []int{1000, 1_000_000}

// benchRules are n rules with keys of 12 bytes and URLs of 60.
func benchRules(n int) iter.Seq[resolver.Rule] {
	return func(yield func(resolver.Rule) bool) {
		for i := range n {
			key := fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i)
			url := fmt.Sprintf("https://www.example.com/articles/%027d", i)
			if !yield(resolver.Rule{Key: key, Value: url}) {
				return
			}
		}
	}
}

func BenchmarkReadJSON(b *testing.B) { benchmarkRead(b, rulefile.JSON) }
func BenchmarkReadCSV(b *testing.B)  { benchmarkRead(b, rulefile.CSV) }

func benchmarkRead(b *testing.B, format rulefile.Format) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var file bytes.Buffer
			if err := rulefile.Write(&file, format, benchRules(n)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				rules := 0
				err := rulefile.Read(bytes.NewReader(file.Bytes()), format, "links", func(resolver.Rule) { rules++ })
				if err != nil || rules != n {
					b.Fatalf("%d rules, %v", rules, err)
				}
			}
		})
	}
}

func BenchmarkWriteJSON(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := slices.Collect(benchRules(n))
			b.ReportAllocs()
			for b.Loop() {
				var file counter
				if err := rulefile.WriteJSON(&file, slices.Values(rules)); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(file))
			}
		})
	}
}

// counter is a writer that counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
