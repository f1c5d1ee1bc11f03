package lists

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
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

// addPair adds the lines of a path, or a regular expression, and its destination.
func addPair(t *migrate.Table, line redirects.Line, path, to string) {
	err := migrate.CheckText("a path or a destination", path+to)
	if line.Answer == redirects.Leads {
		err = cmp.Or(err, migrate.CheckDestination(to)) // allows $1 in it
	}
	switch {
	case err != nil:
		t.Wrong(line.At, "%s", err)
	case strings.HasPrefix(path, "^"):
		t.AddMatch(line, path, to, pathexpr.Options{})
	case looksLikeExpression.MatchString(path):
		t.RefuseLine(line, nil, errors.New("the path looks like a regular expression without \"^\"; add "+
			"\"^\" in front, or write the path percent-encoded"))
	default:
		line.To = redirects.Literal(to)
		t.AddPath(line, path, false)
	}
}

// looksLikeExpression matches characters that occur in expressions, but not in paths.
var looksLikeExpression = regexp.MustCompile(`\$$|\.[*+]|\[\^|\\|\(\?`)
