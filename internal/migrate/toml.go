package migrate

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// DecodeTOML returns the table of a text. The library tells no places: those of the tables of an
// array, [[redirects]], are found by their headers, and others are zero.
func (t *Table) DecodeTOML(text string) (root Node, err error) {
	if line := dearTOML(text); line > 0 {
		return root, ErrorAt(t.Position(line, 1), "a key has more than 64 parts here, or more than a "+
			"thousand brackets are open; remove what is no redirect")
	}
	var file map[string]any
	if _, err := toml.Decode(text, &file); err != nil {
		at, message := t.Position(1, 1), err.Error()
		if wrong, ok := errors.AsType[toml.ParseError](err); ok {
			at = t.Position(max(1, wrong.Position.Line), max(1, wrong.Position.Col))
			message = strings.TrimPrefix(wrong.Message, "toml: ")
		}
		return root, ErrorAt(at, "this is no TOML: "+message)
	}
	root = tomlNode(file)
	members := root.inside
	root.inside = func(yield func(key, value Node) bool) {
		for key, value := range members {
			if tables, ok := file[key.Text].([]map[string]any); ok {
				value.At = t.Position(1, 1)
				value.inside = t.placed(value.inside, len(tables), key.Text, text)
			}
			if !yield(key, value) {
				return
			}
		}
	}
	return root, nil
}

// dottedKey is a key of several parts.
var dottedKey = regexp.MustCompile(
	`(?:[\w-]+|"[^"]*"|'[^']*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"]*"|'[^']*'))+`)

// dearTOML returns the first line for which the library would take long, or all memory; 0 for none.
func dearTOML(text string) (number int) {
	const mostDots, mostOpen = 63, 1000
	isLong := func(key string) bool { return strings.Count(key, ".") > mostDots }
	open := 0
	for line := range strings.Lines(text) {
		number++
		deepest := 0
		open, deepest = brackets(line, open)
		if deepest > mostOpen || strings.Count(line, ".") > mostDots &&
			slices.ContainsFunc(dottedKey.FindAllString(line, -1), isLong) {
			return number
		}
	}
	return 0
}

// brackets returns how many brackets are open behind a line, and how many at most in it.
func brackets(line string, before int) (open, deepest int) {
	open = before
	for i := range len(line) {
		switch line[i] {
		case '[', '{':
			open++
			deepest = max(deepest, open)
		case ']', '}':
			open = max(0, open-1)
		}
	}
	return open, deepest
}

// placed gives the tables of a top-level array their places. Where a text of several lines has what
// looks like a header, these are not known.
func (t *Table) placed(
	tables func(func(Node, Node) bool), count int, name, text string,
) func(func(Node, Node) bool) {
	header := `(?m)^[ \t]*\[\[[ \t"']*` + regexp.QuoteMeta(name) + `[ \t"']*\]\]`
	headers := regexp.MustCompile(header).FindAllStringIndex(text, -1)
	return func(yield func(key, value Node) bool) {
		line, passed := 1, 0
		i := 0
		for _, table := range tables {
			if len(headers) == count {
				line += strings.Count(text[passed:headers[i][0]], "\n")
				passed = headers[i][0]
			}
			table.At = t.Position(line, 1)
			if i++; !yield(Node{}, table) {
				return
			}
		}
	}
}

// tomlNode returns a value of the library, with members in the order of their names.
func tomlNode(value any) Node {
	switch v := value.(type) {
	case string:
		return Node{Kind: '"', Text: v}
	case map[string]any:
		return Node{Kind: '{', inside: func(yield func(key, value Node) bool) {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !yield(Node{Kind: '"', Text: name}, tomlNode(v[name])) {
					return
				}
			}
		}}
	case []map[string]any:
		return tomlList(v)
	case []any:
		return tomlList(v)
	}
	return Node{Kind: 'w', Text: fmt.Sprint(value)}
}

func tomlList[T any](list []T) Node {
	return Node{Kind: '[', inside: func(yield func(key, value Node) bool) {
		for _, element := range list {
			if !yield(Node{}, tomlNode(element)) {
				return
			}
		}
	}}
}
