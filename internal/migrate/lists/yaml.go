package lists

import (
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
)

// ReadYAML reads redirects in YAML: see [pairs.readTable].
func ReadYAML(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	if page := frontMatter.FindStringSubmatch(text); page != nil &&
		strings.Contains(page[1], "\nredirect_from:") {
		text = page[1]
	}
	documents, err := t.DecodeYAML(text)
	if err != nil {
		return err
	}
	p := newPairs(t)
	for _, document := range documents.Inside() {
		p.readTable(document)
	}
	p.finish("map in YAML")
	return nil
}

// frontMatter matches what stands above the text of a page.
var frontMatter = regexp.MustCompile(`(?s)^---[ \t]*(\r?\n.*?\n)---`)
