package lists

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// yamlMap is a map of paths and destinations.
type yamlMap struct {
	t *migrate.Table
	// passedOver are members beside "redirects", or nil.
	passedOver []string
	unreadable int // entries that are no YAML
}

// ReadYAML reads a map of paths and destinations, or one that stands under "redirects".
func ReadYAML(t *migrate.Table, r io.Reader) error {
	text, err := migrate.ReadText(r, t.Source)
	if err != nil {
		return err
	}
	m := yamlMap{t: t}
	m.readText(string(text), 0)
	if t.Status == 0 && t.Entries() > 0 {
		t.Remark("a map in YAML tells neither the status of redirects nor what becomes of queries, so " +
			"the site's own hold; say it with --status and --query")
	}
	if m.passedOver != nil {
		t.Remark("members beside \"redirects\" are passed over: %s", migrate.QuoteAll(m.passedOver))
	}
	return nil
}

// readText reads lines behind some others. Of what is no YAML the entry is left out that has the
// mistake, and the rest is read, before and after it.
func (m *yamlMap) readText(text string, behind int) {
	const most = 100 // as each takes another look at the text
	for text != "" && m.unreadable < most {
		documents, err := decodeYAML(text)
		if err == nil {
			for i := range documents {
				m.readDocument(&documents[i], behind)
			}
			return
		}
		line, what := yamlMistake(err, text)
		at := m.t.Position(behind+line, 1)
		m.t.Wrong(at, "this is no YAML: %s; an entry is a path, \": \" and its destination, and either "+
			"may stand in quotation marks", what)
		if m.unreadable++; m.unreadable == most {
			m.t.Wrong(at, "this is entry number %d that is no YAML, and reading ends here", most)
			return
		}
		before, after := cutEntry(text, line)
		m.readText(before, behind)
		behind += strings.Count(text[:len(text)-len(after)], "\n")
		text = after
	}
}

// decodeYAML returns the documents of a text, without those that say nothing behind the first one.
func decodeYAML(text string) (documents []yaml.Node, err error) {
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
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

// yamlMistake returns the line of a text that an error is about, from 1, and what is wrong there.
// The library does not tell a first line, nor that of an alias or of a character.
func yamlMistake(err error, text string) (line int, what string) {
	what = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, isLine := strings.CutPrefix(what, "line ")
	number, rest, isPlace := strings.Cut(rest, ": ")
	if line, err := strconv.Atoi(number); isLine && isPlace && err == nil {
		return max(line, 1), rest
	}
	if name, isAlias := strings.CutPrefix(what, "unknown anchor '"); isAlias {
		name, _, _ = strings.Cut(name, "'")
		before, _, _ := strings.Cut(text, "*"+name)
		return strings.Count(before, "\n") + 1, what
	}
	if at := notInYAML(text); at >= 0 {
		return strings.Count(text[:at], "\n") + 1, what
	}
	return 1, what
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

// beginsEntry is what a line begins with that certainly begins an entry of the outermost map.
var beginsEntry = regexp.MustCompile(`(?m)^[/^0-9A-Za-z]`)

// cutEntry returns what stands before the entry that has a line of a text, and behind it.
func cutEntry(text string, line int) (before, after string) {
	end := 0 // of the line
	for ; line > 0 && end < len(text); line-- {
		length := strings.IndexByte(text[end:], '\n') + 1
		if length == 0 {
			length = len(text) - end
		}
		end += length
	}
	for begin := end; begin > 0 && before == ""; {
		begin = strings.LastIndexByte(text[:begin-1], '\n') + 1
		if beginsEntry.MatchString(text[begin : begin+1]) {
			before = text[:begin]
		}
	}
	if begin := beginsEntry.FindStringIndex(text[end:]); begin != nil {
		after = text[end+begin[0]:]
	}
	return before, after
}

// readDocument reads the entries of a text behind some lines.
func (m *yamlMap) readDocument(document *yaml.Node, behind int) {
	if len(document.Content) == 0 {
		return
	}
	table := document.Content[0]
	if redirects := m.memberRedirects(table); redirects != nil {
		table = redirects
	}
	place := func(node *yaml.Node) resolver.Position {
		return m.t.Position(behind+max(node.Line, 1), max(node.Column, 1))
	}
	if table.Kind != yaml.MappingNode {
		m.t.Wrong(place(table), "redirects in YAML are a map of paths and destinations, not %s; write a "+
			"line such as /old: /new for each", kindOfYAML(table))
		return
	}
	for i := 0; i+1 < len(table.Content); i += 2 {
		at := place(table.Content[i])
		if m.t.IsGivenUp(at) {
			return
		}
		m.readEntry(at, meant(table.Content[i]), meant(table.Content[i+1]))
	}
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
	if redirects != nil {
		m.passedOver = others
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
	return "the text " + migrate.Quote(node.Value)
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
		m.t.Wrong(at, "the destination of %s is a text, not %s", migrate.Quote(key.Value),
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
