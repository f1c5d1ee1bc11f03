package rulefile

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// yamlReader reads a map of paths and destinations. The library gets a large map in pieces, as it
// takes ten times the memory of its text.
type yamlReader struct {
	t    *foreignTable
	text *bufio.Reader
	line int // behind which the next piece begins
	// ahead is a line that has been read and begins the next piece.
	ahead string
	end   error // what ended the reading
	// passedOver are members beside "redirects", or nil.
	passedOver []string
	unreadable int // entries that are no YAML
}

// maxUnreadable is how many entries are no YAML before a file is given up, as each of them takes
// another look at its piece.
const maxUnreadable = 100

// yamlPiece is how many bytes of a map are taken apart at once, at least.
const yamlPiece = 1 << 20

// readYAML reads a map of paths and destinations, or one that stands under "redirects".
func readYAML(t *foreignTable, r io.Reader) error {
	text, _ := withoutByteOrderMark(r)
	y := &yamlReader{t: t, text: text}
	for y.end == nil {
		piece, err := y.nextPiece()
		if err != nil {
			return err
		}
		y.readPiece(piece, y.line)
		y.line += strings.Count(piece, "\n")
	}
	if t.reading.Status == 0 && t.entries > 0 {
		t.remark("a map in YAML tells neither the status of redirects nor what becomes of queries, so " +
			"the site's own hold; say it with --status and --query")
	}
	if y.passedOver != nil {
		t.remark("members beside \"redirects\" are passed over: %s", quotedList(y.passedOver))
	}
	if y.end == errUnreadable {
		return nil
	}
	return y.end
}

// nextPiece returns some lines, up to one that begins an entry of the outermost map.
func (y *yamlReader) nextPiece() (string, error) {
	var piece strings.Builder
	piece.WriteString(y.ahead)
	for y.ahead = ""; ; {
		line, err := y.text.ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		if len(line) > maxText {
			at := resolver.Position{Source: y.t.source, Line: y.line + 1, Column: 1}
			return "", &Error{at, "a line is longer than a mebibyte, and holds no rule"}
		}
		if err == nil && piece.Len() >= yamlPiece && beginsEntry(line) {
			y.ahead = line
			return piece.String(), nil
		}
		piece.WriteString(line)
		if y.end = err; err != nil {
			return piece.String(), nil
		}
	}
}

// beginsEntry reports whether a line certainly begins an entry of the outermost map.
func beginsEntry(line string) bool {
	return line[0] == '/' || line[0] == '^' || isAlphanumeric(rune(line[0]))
}

// readPiece reads lines behind some others. What is no YAML ends at the next line that begins an
// entry.
func (y *yamlReader) readPiece(piece string, behind int) {
	for piece != "" && y.end != errUnreadable {
		document := new(yaml.Node)
		err := yaml.Unmarshal([]byte(piece), document)
		if err == nil {
			y.readDocument(document, behind)
			return
		}
		line, what := yamlProblem(err, piece)
		at := resolver.Position{Source: y.t.source, Line: behind + line, Column: 1}
		y.t.wrong(at, "this is no YAML: %s; an entry is a path, \": \" and its destination, and "+
			"either may stand in quotation marks", what)
		if y.unreadable++; y.unreadable == maxUnreadable {
			y.t.wrong(at, "this is entry number %d that is no YAML, and reading ends here", maxUnreadable)
			y.end = errUnreadable
			return
		}
		before, after, skipped := aroundEntry(piece, line)
		y.readPiece(before, behind)
		piece, behind = after, behind+skipped
	}
}

// errUnreadable ends the reading of a file of which too much is no YAML.
var errUnreadable = errors.New("too much of the file is no YAML")

// yamlProblem returns the line of a piece that an error is about, from 1, and what is wrong there.
// The library does not tell a first line, nor that of an alias.
func yamlProblem(err error, piece string) (line int, what string) {
	what = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, isLine := strings.CutPrefix(what, "line ")
	number, rest, isPlace := strings.Cut(rest, ": ")
	if line, err := strconv.Atoi(number); isLine && isPlace && err == nil {
		return max(line, 1), rest
	}
	if name, isAlias := strings.CutPrefix(what, "unknown anchor '"); isAlias {
		name, _, _ = strings.Cut(name, "'")
		before, _, _ := strings.Cut(piece, "*"+name)
		return strings.Count(before, "\n") + 1, what
	}
	return 1, what
}

// aroundEntry returns what stands before the entry that has a line, and behind it; and how many
// lines end with the entry.
func aroundEntry(piece string, line int) (before, after string, skipped int) {
	begin, at := 0, 0
	for n := 1; at < len(piece); n++ {
		end := len(piece)
		if length := strings.IndexByte(piece[at:], '\n'); length >= 0 {
			end = at + length + 1
		}
		switch isBegin := beginsEntry(piece[at:end]); {
		case isBegin && n <= line:
			begin = at
		case isBegin:
			return piece[:begin], piece[at:], n - 1
		}
		at = end
	}
	return piece[:begin], "", 0
}

// readDocument reads the entries of a piece.
func (y *yamlReader) readDocument(document *yaml.Node, behind int) {
	if len(document.Content) == 0 {
		return
	}
	table := document.Content[0]
	if redirects := y.memberRedirects(table); redirects != nil {
		table = redirects
	}
	at := y.positionOf(table, behind)
	if table.Kind != yaml.MappingNode {
		y.t.wrong(at, "redirects in YAML are a map of paths and destinations, not %s; write a line "+
			"such as /old: /new for each", kindOfYAML(table))
		return
	}
	for i := 0; i+1 < len(table.Content); i += 2 {
		key, value := table.Content[i], table.Content[i+1]
		at := y.positionOf(key, behind)
		if err := y.t.file.errs.tooMany(at); err != nil {
			y.t.file.errs = append(y.t.file.errs, err)
			y.end = io.EOF
			return
		}
		y.readEntry(at, behind, key, value)
	}
}

// memberRedirects returns the map or list that stands under "redirects", or nil.
func (y *yamlReader) memberRedirects(table *yaml.Node) (redirects *yaml.Node) {
	if table.Kind != yaml.MappingNode {
		return nil
	}
	var others []string
	for i := 0; i+1 < len(table.Content); i += 2 {
		switch name, value := table.Content[i], table.Content[i+1]; {
		case name.Value == "redirects" && value.Kind != yaml.ScalarNode:
			redirects = value
		default:
			others = append(others, name.Value)
		}
	}
	if redirects != nil {
		y.passedOver = others
	}
	return redirects
}

func (y *yamlReader) positionOf(node *yaml.Node, behind int) resolver.Position {
	return resolver.Position{
		Source: y.t.source, Line: behind + max(node.Line, 1), Column: max(node.Column, 1),
	}
}

// kindOfYAML names what a node is, for messages.
func kindOfYAML(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a map"
	case node.Kind == yaml.AliasNode:
		return "an alias"
	case node.Tag == "!!null":
		return "nothing"
	}
	return "the text " + quote(node.Value)
}

// readEntry reads an entry of the map.
func (y *yamlReader) readEntry(at resolver.Position, behind int, key, value *yaml.Node) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch {
	case key.Tag == "!!merge":
		y.t.wrong(at, "another map is merged here, which is not taken over; write its entries down")
	case key.Kind != yaml.ScalarNode || key.Tag == "!!null":
		y.t.wrong(at, "a path is a text, not %s", kindOfYAML(key))
	case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
		y.t.wrong(at, "the destination of %s is a text, not %s", quote(key.Value), kindOfYAML(value))
	default:
		y.addEntry(at, key.Value, value.Value)
	}
}

// addEntry takes in a path, or a regular expression, and its destination.
func (y *yamlReader) addEntry(at resolver.Position, path, to string) {
	isExpression := strings.HasPrefix(path, "^")
	switch {
	case hasMarks(path + to):
		y.t.wrong(at, "a path or a destination holds a control character; write it percent-encoded")
	case checkDestination(to) != nil:
		y.t.wrong(at, "%s", checkDestination(to))
	case isExpression:
		y.t.addMatch(at, path, to, expressionOptions{})
	case looksLikeExpression.MatchString(path):
		y.t.refuse(at, "", "the path looks like a regular expression, which begins with \"^\"; write "+
			"that in front, or the path percent-encoded")
	default:
		path = "/" + strings.TrimPrefix(path, "/")
		if err := checkPlainPath(path); err != nil {
			y.t.refuse(at, "", err.Error())
			return
		}
		y.t.add(foreignLine{at: at, path: path, to: to})
	}
}

// looksLikeExpression is what no path has.
var looksLikeExpression = regexp.MustCompile(`\$$|\.[*+]|\[\^|\\|\(\?`)
