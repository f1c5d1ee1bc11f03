package command_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// writeMany writes a file of n rules with keys of 12 bytes and URLs of 60. Of ten rules one leads
// to another and one has a query; the destinations of the first changed ones are others.
func writeMany(b *testing.B, n, changed int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "links.json")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	key := func(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }
	fmt.Fprint(w, "{")
	for i := range n {
		value := fmt.Sprintf("https://www.example.com/articles/%027d", i)
		switch {
		case i < changed:
			value = fmt.Sprintf("https://www.example.org/articles/%027d", i)
		case i%10 == 1:
			value = "/" + key(i-1) + "/page"
		case i%10 == 2:
			value += "?page=1&flag"
		}
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, "\n\t%q: %q", key(i), value)
	}
	fmt.Fprint(w, "\n}\n")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// runs runs a command again and again.
func runs(b *testing.B, status int, args ...string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if out, got := testcaddy.Run(append([]string{"shortlink"}, args...), ""); got != status {
			b.Fatalf("exit status %d: %.1000s", got, out)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			path := writeMany(b, n, 0)
			runs(b, 0, "check", "--rules", path, "--host", "go.example")
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			before, after := writeMany(b, n, 0), writeMany(b, n, 1000)
			runs(b, 1, "diff", before, after)
		})
	}
}
