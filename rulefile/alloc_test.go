//go:build !race

package rulefile_test

// The race detector allocates on its own, so it has no part in this.

import (
	"bytes"
	"slices"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestReadingAndWritingAllocateNoMorePerRuleThanItsStrings(t *testing.T) {
	const n, once = 1000, 50
	rules := slices.Collect(benchRules(n))
	tests := map[rulefile.Format]struct{ reading, writing float64 }{
		rulefile.JSON: {reading: 2, writing: 0},
		rulefile.CSV:  {reading: 1, writing: 0}, // key and destination share a string
	}
	for format, want := range tests {
		var file bytes.Buffer
		writing := testing.AllocsPerRun(5, func() {
			file.Reset()
			if err := rulefile.Write(&file, format, slices.Values(rules)); err != nil {
				t.Fatal(err)
			}
		})
		reading := testing.AllocsPerRun(5, func() {
			err := rulefile.Read(bytes.NewReader(file.Bytes()), format, "", func(resolver.Rule) {})
			if err != nil {
				t.Fatal(err)
			}
		})
		if reading > n*want.reading+once {
			t.Errorf("%s: %v allocations for reading %d rules", format, reading, n)
		}
		if writing > n*want.writing+once {
			t.Errorf("%s: %v allocations for writing %d rules", format, writing, n)
		}
	}
}
