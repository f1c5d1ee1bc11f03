package lists

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// yamlMap is a map of paths and destinations.
type yamlMap struct{ t *migrate.Table }

// ReadYAML reads a map of paths and destinations, or one that stands under "redirects".
func ReadYAML(t *migrate.Table, r io.Reader) error {
	text, err := migrate.ReadText(r, t.Source)
	if err != nil {
		return err
	}
	documents, err := decodeYAML(text)
	if err != nil {
		return noYAML(t, err, string(text))
	}
	m := yamlMap{t}
	for _, document := range documents {
		m.readTable(document.Content[0])
	}
	if t.Status == 0 && t.Entries() > 0 {
		t.Remark("a map in YAML tells neither the status of redirects nor what becomes of queries, so " +
			"the site's own hold; say it with --status and --query")
	}
	return nil
}

// decodeYAML returns the documents of a text, without those that say nothing behind the first one.
func decodeYAML(text []byte) (documents []yaml.Node, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case err == io.EOF:
			return documents, nil
		case err != nil:
			return nil, err
		case len(documents) == 0 || document.Content[0].Tag != "!!null":
			documents = append(documents, document)
		}
	}
}

// yamlMistake is what the library says. It does not tell a first line, nor that of an alias or of a
// character.
var yamlMistake = regexp.MustCompile(`^yaml: (?:line (\d+): |(?:unknown anchor '([^']*)))?`)

// noYAML is the error of a text that is no YAML.
func noYAML(t *migrate.Table, err error, text string) error {
	line := 1
	where := yamlMistake.FindStringSubmatch(err.Error())
	switch at := notInYAML(text); {
	case where != nil && where[1] != "":
		line, _ = strconv.Atoi(where[1])
	case where != nil && where[2] != "":
		before, _, _ := strings.Cut(text, "*"+where[2])
		line = strings.Count(before, "\n") + 1
	case at >= 0:
		line = strings.Count(text[:at], "\n") + 1
	}
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	if where != nil && where[1] != "" {
		what = strings.TrimPrefix(err.Error(), where[0])
	}
	return migrate.ErrorAt(t.Position(max(line, 1), 1), "this is no YAML: "+what+"; an entry is a "+
		"path, \": \" and its destination, and either may stand in quotation marks")
}

// notInYAML returns where the first character of a text stands that YAML does not have, such as
// one that is no UTF-8, or -1.
func notInYAML(text string) int {
	for i, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") || c == 0xFFFE || c == 0xFFFF ||
			unicode.IsControl(c) && !strings.ContainsRune("\t\n\r\u0085", c) {
			return i
		}
	}
	return -1
}

// readTable reads the entries of a map.
func (m *yamlMap) readTable(table *yaml.Node) {
	if redirects := m.memberRedirects(table); redirects != nil {
		table = redirects
	}
	if table.Kind != yaml.MappingNode {
		m.t.Wrong(m.place(table), "redirects in YAML are a map of paths and destinations, not %s; write "+
			"a line such as /old: /new for each", kindOfYAML(table))
		return
	}
	for i := 0; i+1 < len(table.Content); i += 2 {
		at := m.place(table.Content[i])
		if m.t.IsGivenUp(at) {
			return
		}
		m.readEntry(at, meant(table.Content[i]), meant(table.Content[i+1]))
	}
}

func (m *yamlMap) place(node *yaml.Node) resolver.Position {
	return m.t.Position(max(node.Line, 1), max(node.Column, 1))
}

// memberRedirects returns the map or list that stands under "redirects", or nil.
func (m *yamlMap) memberRedirects(table *yaml.Node) (redirects *yaml.Node) {
	if table.Kind != yaml.MappingNode {
		return nil
	}
	var others []string
	for i := 0; i+1 < len(table.Content); i += 2 {
		name, value := table.Content[i], table.Content[i+1]
		if name.Value == "redirects" && value.Kind != yaml.ScalarNode {
			redirects = value
		} else {
			others = append(others, name.Value)
		}
	}
	if redirects != nil && others != nil {
		m.t.Remark("members beside \"redirects\" are passed over: %s", migrate.QuoteAll(others))
	}
	return redirects
}

// meant returns what an alias stands for, and any other node as it is.
func meant(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// kindOfYAML names what a node is, for messages.
func kindOfYAML(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a map"
	case node.Tag == "!!null":
		return "nothing"
	}
	return "the text " + printable.Quote(node.Value)
}

// readEntry reads an entry of the map.
func (m *yamlMap) readEntry(at resolver.Position, key, value *yaml.Node) {
	isText := func(node *yaml.Node) bool {
		return node.Kind == yaml.ScalarNode && node.Tag != "!!null"
	}
	switch {
	case key.Tag == "!!merge":
		m.t.Wrong(at, "another map is merged here, which is not taken over; write its entries down")
	case !isText(key):
		m.t.Wrong(at, "a path is a text, not %s", kindOfYAML(key))
	case !isText(value):
		m.t.Wrong(at, "the destination of %s is a text, not %s", printable.Quote(key.Value),
			kindOfYAML(value))
	default:
		m.addEntry(at, key.Value, value.Value)
	}
}

// addEntry adds the lines of a path, or a regular expression, and its destination.
func (m *yamlMap) addEntry(at resolver.Position, path, to string) {
	err := migrate.CheckText("a path or a destination", path+to)
	if err == nil {
		err = migrate.CheckDestination(to) // also with $1 in it
	}
	switch {
	case err != nil:
		m.t.Wrong(at, "%s", err)
	case strings.HasPrefix(path, "^"):
		m.t.AddMatch(redirects.Line{At: at}, path, to, pathexpr.Options{})
	case looksLikeExpression.MatchString(path):
		m.t.Refuse(at, nil, errors.New("the path looks like a regular expression, which begins with "+
			"\"^\"; write that in front, or the path percent-encoded"))
	default:
		path = "/" + strings.TrimPrefix(path, "/")
		m.t.Add(redirects.Line{At: at, Path: redirects.Text(path), To: redirects.Literal(to),
			Refused: migrate.CheckPath(path)})
	}
}

// looksLikeExpression is what no path has.
var looksLikeExpression = regexp.MustCompile(`\$$|\.[*+]|\[\^|\\|\(\?`)
