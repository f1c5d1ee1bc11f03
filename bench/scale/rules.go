package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// bench is the environment of a measurement.
type bench struct {
	dir, caddy string
}

// key and url return the key (12 bytes) and the URL (60 bytes) of the i-th rule.
func key(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

func url(i, generation int) string {
	return fmt.Sprintf("https://www.example.com/articles/%d/%025d", generation%10, i)
}

func (b *bench) links() string { return filepath.Join(b.dir, "links.json") }

// generations returns the generation of the i-th rule.
type generations func(i int) int

// firstOf returns rules of which the first changed ones have the given generation, and others 0.
func firstOf(changed, generation int) generations {
	return func(i int) int {
		if i < changed {
			return generation
		}
		return 0
	}
}

// only returns rules of which one has the given generation, and the others 0.
func only(edited, generation int) generations {
	return func(i int) int {
		if i == edited {
			return generation
		}
		return 0
	}
}

// writeRules atomically replaces the file that servers follow. It writes n rules, of which the
// first changed ones have the given generation.
func (b *bench) writeRules(n, changed, generation int) error {
	return inJSON.write(b.links(), n, firstOf(changed, generation))
}

// format is a format for a file of rules.
type format struct{ begin, rule, between, end string }

var inJSON = format{"{\n", "\t%q: %q", ",\n", "\n}\n"}

// write atomically writes n rules to a file.
func (f format) write(path string, n int, g generations) error {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprint(w, f.begin)
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, f.between)
		}
		fmt.Fprintf(w, f.rule, key(i), url(i, g(i)))
	}
	fmt.Fprint(w, f.end)
	if err := w.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
