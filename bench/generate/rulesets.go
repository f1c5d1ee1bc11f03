package main

import (
	"os"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/vectors"
)

// ofGolang makes a table of the redirects of golang.org.
func ofGolang(file string) ([]made, error) {
	t := vectors.Table{
		Suite:   "golang/website: the redirects of golang.org",
		Licence: "BSD-3-Clause",
		Columns: []string{"key", "destination"},
	}
	rules, err := read[map[string]string](file)
	for _, key := range sorted(rules) {
		t.Add(key, rules[key])
	}
	return []made{{"testdata/rulesets/golang.json", t}}, err
}

// ofBabel makes a table of the redirects of babeljs.io.
func ofBabel(file string) ([]made, error) {
	t := vectors.Table{
		Suite:   "babel/website: website/static/_redirects",
		Licence: "MIT",
		Columns: []string{"path", "destination", "status"},
	}
	content, err := os.ReadFile(file)
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var cells []any
		for _, word := range words {
			cells = append(cells, word)
		}
		t.Add(cells...)
	}
	return []made{{"testdata/rulesets/babel.json", t}}, err
}
