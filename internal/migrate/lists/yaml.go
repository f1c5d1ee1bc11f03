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

// describeYAML describes a value in terms of YAML.
func describeYAML(n migrate.Node) string {
	switch n.Kind {
	case '{':
		return "a map"
	case '[':
		return "a list"
	}
	return n.String()
}

// isText reports whether a node is a text, or can be an unquoted text.
func isText(n migrate.Node) bool { return n.Kind == '"' || n.Kind == 'w' && n.Text != "null" }
