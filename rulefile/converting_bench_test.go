package rulefile_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// benchForeign has for formats of other programs a line, with numbers in key and destination, and
// what stands in front of all lines and behind them.
var benchForeign = map[rulefile.Format]struct{ before, line, after string }{
	rulefile.Array: {"[\n",
		`{"source":"/k%012d","destination":"https://www.example.com/articles/%027d","permanent":true}` +
			",\n", `{"source":"/z","destination":"/y"}]`},
	rulefile.NetlifyTOML: {"", "[[redirects]]\nfrom = \"/k%012d\"\n" +
		"to = \"https://www.example.com/articles/%027d\"\nstatus = 302\n\n", ""},
	rulefile.Htaccess: {"", "Redirect 301 /k%012d https://www.example.com/articles/%027d\n", ""},
	rulefile.Map:      {"", "/k%012d https://www.example.com/articles/%027d\n", ""},
	rulefile.YAML:     {"", "/k%012d: https://www.example.com/articles/%027d\n", ""},
	rulefile.Golink:   {"", `{"Short":"k%012d","Long":"https://www.example.com/articles/%027d"}` + "\n", ""},
}

// BenchmarkConvert converts a million lines of each format.
func BenchmarkConvert(b *testing.B) {
	const n = 1_000_000
	for format, form := range benchForeign {
		b.Run(string(format), func(b *testing.B) {
			var file bytes.Buffer
			file.WriteString(form.before)
			for i := range n {
				fmt.Fprintf(&file, form.line, i, i)
			}
			file.WriteString(form.after)
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				done, err := rulefile.Reading{}.Convert(io.Discard, rulefile.JSON,
					bytes.NewReader(file.Bytes()), format, "file")
				if err != nil || done.Exact < n {
					b.Fatalf("%d exact, %v", done.Exact, err)
				}
			}
		})
	}
}
