package formats_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// benchLines holds a line in each format of other programs, with numbers in key and destination.
// before and after are the text around all lines.
var benchLines = map[string]struct{ before, line, after string }{
	"array": {"[\n",
		`{"source":"/k%012d","destination":"https://www.example.com/articles/%027d","permanent":true}` +
			",\n", `{"source":"/z","destination":"/y"}]`},
	"netlify-toml": {"", "[[redirects]]\nfrom = \"/k%012d\"\n" +
		"to = \"https://www.example.com/articles/%027d\"\nstatus = 302\n\n", ""},
	"htaccess": {"", "Redirect 301 /k%012d https://www.example.com/articles/%027d\n", ""},
	"map":      {"", "/k%012d https://www.example.com/articles/%027d\n", ""},
	"yaml":     {"", "/k%012d: https://www.example.com/articles/%027d\n", ""},
	"golink":   {"", `{"Short":"k%012d","Long":"https://www.example.com/articles/%027d"}` + "\n", ""},
	"csv":      {"keyword,url\n", "k%012d,https://www.example.com/articles/%027d\n", ""},
}

// BenchmarkConvert converts a hundred thousand lines of each format.
func BenchmarkConvert(b *testing.B) {
	const n = 100_000
	for name, form := range benchLines {
		format, err := formats.Parse(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			var file bytes.Buffer
			file.WriteString(form.before)
			for i := range n {
				fmt.Fprintf(&file, form.line, i, i)
			}
			file.WriteString(form.after)
			b.SetBytes(int64(file.Len()))
			b.ReportAllocs()
			for b.Loop() {
				in := migrate.Input{Reader: bytes.NewReader(file.Bytes()), Source: "file"}
				done, err := migrate.Convert(io.Discard, rulefile.JSON, in, format)
				if err != nil || done.Exact < n {
					b.Fatalf("%d exact, %v", done.Exact, err)
				}
			}
		})
	}
}

// BenchmarkConvertExpressions converts tables of regular expressions, and a table with a thousand
// lines that are refused, beside the same without them.
func BenchmarkConvertExpressions(b *testing.B) {
	const plain = "RewriteRule ^s/w%d$ /y/%[1]d [R=301,L]\n"
	for _, table := range []struct {
		name, format, line string
		lines, refused     int
	}{
		{"10,000 beginnings", "yaml", "^/k%dx.*$: https://e.example/%[1]d\n", 10_000, 0},
		{"10,000 beginnings below a path", "yaml", "^/s/k%d/x.*$: https://e.example/%[1]d\n", 10_000, 0},
		{"350 spans, 3,150 paths", "redirects", "/a%d/*/b%[1]d /c%[1]d\n" +
			strings.Repeat("/b%[1]d/%[1]d /c%[1]d\n", 9), 350, 0},
		{"100,000 paths", "htaccess", plain, 100_000, 0},
		{"100,000 paths, 1,000 refused", "htaccess", plain, 100_000, 1_000},
	} {
		b.Run(table.name, func(b *testing.B) {
			file := bytes.NewBufferString("")
			if table.format == "htaccess" {
				file.WriteString("RewriteEngine On\n")
			}
			for i := range table.refused {
				fmt.Fprintf(file, "RewriteRule ^s/w%dx.*y$ /y/%[1]d [R=301,L]\n", i)
			}
			for i := range table.lines {
				fmt.Fprintf(file, table.line, i)
			}
			format, err := formats.Parse(table.format)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				in := migrate.Input{Reader: bytes.NewReader(file.Bytes()), Source: "file"}
				done, err := migrate.Convert(io.Discard, rulefile.JSON, in, format)
				if err != nil || done.Refused.Count != table.refused {
					b.Fatalf("%d refused, %v", done.Refused.Count, err)
				}
			}
		})
	}
}
