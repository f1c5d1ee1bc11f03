package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// bench is where things are measured.
type bench struct {
	dir, caddy string
}

// key and url are those of the i-th rule: 12 bytes and 60.
func key(i int) string { return fmt.Sprintf("k%05x%06x", uint32(i)*2654435761>>12, i) }

func url(i, generation int) string {
	return fmt.Sprintf("https://www.example.com/articles/%d/%025d", generation%10, i)
}

func (b *bench) links() string { return filepath.Join(b.dir, "links.json") }

// generations says of which generation the i-th rule is.
type generations func(i int) int

// firstOf are rules of which the first ones are of another generation than 0.
func firstOf(changed, generation int) generations {
	return func(i int) int {
		if i < changed {
			return generation
		}
		return 0
	}
}

// only are rules of which one is of another generation than 0.
func only(edited, generation int) generations {
	return func(i int) int {
		if i == edited {
			return generation
		}
		return 0
	}
}

// writeRules writes n rules to the file that servers follow, the first changed ones of another
// generation, instead of the old file at once.
func (b *bench) writeRules(n, changed, generation int) error {
	return inJSON.write(b.links(), n, firstOf(changed, generation))
}

// format is how a file of rules is written.
type format struct{ begin, rule, between, end string }

var inJSON = format{"{\n", "\t%q: %q", ",\n", "\n}\n"}

// write writes n rules to a file, instead of an old one at once.
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
