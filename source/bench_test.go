package source

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// benchFile returns a source of a file of n rules with keys of 12 bytes and URLs of 60.
func benchFile(b *testing.B, n int) *File {
	b.Helper()
	s := &File{Path: filepath.Join(b.TempDir(), "links.json")}
	file, err := os.Create(s.Path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	fmt.Fprint(w, "{")
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, "\n\t\"k%05x%06x\": \"https://www.example.com/articles/%027d\"",
			uint32(i)*2654435761>>12, i, i)
	}
	fmt.Fprint(w, "\n}\n")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	if err := s.Provision(caddy.Context{}); err != nil {
		b.Fatal(err)
	}
	return s
}

func forSizes(b *testing.B, run func(b *testing.B, s *File, version string)) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("it takes seconds")
			}
			s := benchFile(b, n)
			version, err := s.Read(b.Context(), ignoreRule)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			run(b, s, version)
		})
	}
}

// BenchmarkRead reads a file and hashes it.
func BenchmarkRead(b *testing.B) {
	forSizes(b, func(b *testing.B, s *File, _ string) {
		for b.Loop() {
			if _, err := s.Read(b.Context(), ignoreRule); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPoll hashes a file whose metadata tell nothing.
func BenchmarkPoll(b *testing.B) {
	forSizes(b, func(b *testing.B, s *File, version string) {
		for b.Loop() {
			if state := s.content.state(b.Context()); state != version {
				b.Fatal(state)
			}
		}
	})
}

// BenchmarkRewrite changes a rule in a file, and goes on with what the file holds then.
func BenchmarkRewrite(b *testing.B) {
	forSizes(b, func(b *testing.B, s *File, version string) { rewriteOften(b, s, version) })
}

// BenchmarkRewriteEntry does so in a storage entry.
func BenchmarkRewriteEntry(b *testing.B) {
	forSizes(b, func(b *testing.B, s *File, version string) {
		directory, key := filepath.Split(s.path)
		storage := newBoundedStorage(&certmagic.FileStorage{Path: directory})
		entry := &Storage{Key: key, boundedStorage: storage}
		entry.content.format = s.content.format
		rewriteOften(b, entry, version)
	})
}

func rewriteOften(b *testing.B, s Writable, version string) {
	for i := 0; b.Loop(); i++ {
		rule := resolver.Rule{Key: "k0000000000", Value: fmt.Sprintf("https://a.example/%d", i%2)}
		edit := editOf(rulefile.Change{Key: rule.Key, Rule: &rule})
		var err error
		if version, err = s.Edit(b.Context(), version, edit); err != nil {
			b.Fatal(err)
		}
	}
}
