package lists

import (
	"cmp"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// ReadYAML reads a map of paths and destinations. The map may be the value of "redirects".
func ReadYAML(t *migrate.Table, r io.Reader) error {
	text, err := t.ReadText(r)
	if err != nil {
		return err
	}
	documents, err := t.DecodeYAML(text)
	if err != nil {
		return err
	}
	for _, document := range documents.Inside() {
		readMap(t, document)
	}
	if t.Status == 0 && t.Entries() > 0 {
		t.Remark("a map in YAML says neither the status of redirects nor what happens to queries, so " +
			"the site's settings apply; set others with --status and --query")
	}
	return nil
}

// readMap reads the entries of a map.
func readMap(t *migrate.Table, table migrate.Node) {
	var others migrate.Names
	under := migrate.Node{}
	for key, value := range table.Inside() {
		if key.Text == "redirects" && (value.Kind == '{' || value.Kind == '[') {
			under = value
		} else {
			others.Add(key.Text)
		}
	}
	if under.Kind != 0 {
		t.RemarkSkipped("members beside \"redirects\" are", others)
		table = under
	}
	line, isRedirect := lineOf(table)
	if table.Kind != '{' || isRedirect {
		for _, first := range table.Inside() {
			if of, is := lineOf(first); is {
				line = of
			}
			break
		}
		found := describeYAML(table)
		if isRedirect && table.Kind == '{' {
			found = "one redirect"
		}
		t.Wrong(table.At, "redirects in YAML are a map of paths and destinations, not %s; write a line "+
			"such as %s for each", found, line)
		return
	}
	for key, value := range table.Inside() {
		if t.IsGivenUp(key.At) {
			return
		}
		readPair(t, key, value)
	}
}

// lineOf returns the line to write for an object that is one redirect. is reports whether the
// object is a redirect.
func lineOf(v migrate.Node) (line string, is bool) {
	from := cmp.Or(v.Member("from").Text, v.Member("source").Text)
	to := cmp.Or(v.Member("to").Text, v.Member("destination").Text)
	if from == "" || to == "" {
		return "/old: /new", false
	}
	return printable.Quote(from) + ": " + printable.Quote(to), true
}

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

// readPair reads an entry of the map.
func readPair(t *migrate.Table, key, value migrate.Node) {
	switch {
	case key.Kind == 'w' && key.Text == "<<":
		t.Wrong(key.At, "maps that are merged with \"<<\" are not converted; write out their entries")
	case !isText(key):
		t.Wrong(key.At, "a path is a text, not %s", describeYAML(key))
	case !isText(value):
		t.Wrong(key.At, "the destination of %s is a text, not %s", printable.Quote(key.Text),
			describeYAML(value))
	default:
		t.AddKey(redirects.Line{At: key.At}, key.Text, value.Text)
	}
}
