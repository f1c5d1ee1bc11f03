package rulefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
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
				rules, text := 0, bytes.NewReader(file.Bytes())
				err := rulefile.Read(text, format, "links", func(resolver.Rule) { rules++ })
				if err != nil || rules != n {
					b.Fatalf("%d rules, %v", rules, err)
				}
			}
		})
	}
}

// BenchmarkEdit changes rules of a file: it is read, copied, and the copy is read.
func BenchmarkEdit(b *testing.B) {
	for _, format := range []rulefile.Format{rulefile.JSON, rulefile.CSV} {
		for _, n := range []int{1, 10_000} {
			b.Run(fmt.Sprintf("%s/changes=%d", format, n), func(b *testing.B) {
				benchmarkEdit(b, format, n)
			})
		}
	}
}

func benchmarkEdit(b *testing.B, format rulefile.Format, n int) {
	const rules = 1_000_000
	var file, edited bytes.Buffer
	if err := rulefile.Write(&file, format, benchRules(rules)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	var edit rulefile.Edit
	i := 0
	for rule := range benchRules(rules) {
		if i++; i%(rules/n) == 0 {
			rule.Value += "/new"
			edit.Changes = append(edit.Changes, rulefile.Change{Key: rule.Key, Rule: &rule})
		}
	}
	edit.Reading.Lends = true
	for b.Loop() {
		old := bytes.NewReader(file.Bytes())
		plan, err := edit.Plan(old, format, "links")
		edited.Reset()
		if err == nil {
			err = plan.Copy(&edited, old)
		}
		if err == nil {
			_, err = plan.Read(&edited, func(resolver.Rule) {})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// benchRedirects are kinds of lines of a _redirects file, with a number for "#".
var benchRedirects = map[string][]string{
	"plain":                       {"/a# https://to.example/#"},
	"plain-internal":              {"/old/a# /new/a# 301"},
	"placeholder-first":           {"/:x/a# https://to.example/:x"},
	"placeholder-last":            {"/a#/:x https://to.example/:x"},
	"splat":                       {"/a#/* https://to.example/:splat"},
	"splat-to-one-place":          {"/a#/* https://to.example/#"},
	"splat-within":                {"/a#-* https://to.example/:splat"},
	"placeholders":                {"/:x/:y/b# https://to.example/:y"},
	"placeholder-first-and-plain": {"/:x/a# https://to.example/:x", "/b#/c https://to.example/#"},
	"plain-and-placeholder-first": {"/b#/c https://to.example/#", "/:x/a# https://to.example/:x"},
	"splat-before-placeholders": {
		"/a#/* https://to.example/#", "/:x/:y/b# https://to.example/:y",
	},
	"all": {
		"/:x/:y/b# https://to.example/:y", "/:x/a# https://to.example/:x",
		"/c#/:x https://to.example/:x", "/d#/* https://to.example/:splat",
		"/e#-* https://to.example/:splat", "/f# https://to.example/#",
	},
}

// BenchmarkReadRedirects reads 2,000 lines of each kind.
func BenchmarkReadRedirects(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(benchRedirects)) {
		var file strings.Builder
		for _, kind := range benchRedirects[name] {
			for i := range 2000 {
				file.WriteString(strings.ReplaceAll(kind, "#", strconv.Itoa(i)) + "\n")
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lines := strings.NewReader(file.String())
				err := rulefile.Read(lines, rulefile.Redirects, "redirects", func(resolver.Rule) {})
				if _, refused := errors.AsType[rulefile.Errors](err); err != nil && !refused {
					b.Fatal(err)
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
