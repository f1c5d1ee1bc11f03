package migrate

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// DecodeTOML returns the root table of a text. The library reports no positions. DecodeTOML finds
// the tables of an array by their [[redirects]] headers; other positions are zero.
func (t *Table) DecodeTOML(text string) (root Node, err error) {
	if line := costlyLine(text); line > 0 {
		return root, ErrorAt(t.Position(line, 1), "a key has more than 64 parts here, or more than a "+
			"thousand brackets are open; remove everything but the redirects")
	}
	var file map[string]any
	if _, err := toml.Decode(text, &file); err != nil {
		at, message := t.Position(1, 1), err.Error()
		if wrong, ok := errors.AsType[toml.ParseError](err); ok {
			at = t.Position(max(1, wrong.Position.Line), max(1, wrong.Position.Col))
			message = strings.TrimPrefix(wrong.Message, "toml: ")
		}
		return root, ErrorAt(at, "this is not valid TOML: "+message)
	}
	return Node{Kind: '{', inside: func(yield func(key, value Node) bool) {
		for _, name := range slices.Sorted(maps.Keys(file)) {
			value := tomlNode(file[name])
			if tables, ok := file[name].([]map[string]any); ok {
				value = tomlList(tables, t.placesOf(name, len(tables), text))
				value.At = t.Position(1, 1)
			}
			if !yield(Node{Text: name}, value) {
				return
			}
		}
	}}, nil
}

// longKey is a key of more than 64 parts.
var longKey = regexp.MustCompile(`(?:(?:[\w-]+|"[^"]*"|'[^']*')[ \t]*\.[ \t]*){64}`)

// costlyLine returns the first line that would cost the library too much time or memory, or 0.
func costlyLine(text string) (number int) {
	const mostDots, mostOpen = 63, 1000
	open := 0
	for line := range strings.Lines(text) {
		number++
		for i := range len(line) {
			switch line[i] {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			}
			if open > mostOpen {
				return number
			}
		}
		if strings.Count(line, ".") > mostDots && longKey.MatchString(line) {
			return number
		}
	}
	return 0
}

// placesOf returns the positions of the tables in a top-level array. They are unknown if a
// multi-line text contains what looks like a header.
func (t *Table) placesOf(name string, count int, text string) []resolver.Position {
	header := `(?m)^[ \t]*\[\[[ \t"']*` + regexp.QuoteMeta(name) + `[ \t"']*\]\]`
	headers := regexp.MustCompile(header).FindAllStringIndex(text, -1)
	places := make([]resolver.Position, count)
	line, passed := 1, 0
	for i := range places {
		if len(headers) == count {
			line += strings.Count(text[passed:headers[i][0]], "\n")
			passed = headers[i][0]
		}
		places[i] = t.Position(line, 1)
	}
	return places
}

// tomlNode returns the node of a library value, with members sorted by name.
func tomlNode(value any) Node {
	switch v := value.(type) {
	case string:
		return Node{Kind: '"', Text: v}
	case map[string]any:
		return Node{Kind: '{', inside: once(func(yield func(key, value Node) bool) {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !yield(Node{Text: name}, tomlNode(v[name])) {
					return
				}
			}
		})}
	case []map[string]any:
		return tomlList(v, nil)
	case []any:
		return tomlList(v, nil)
	}
	return Node{Kind: 'w', Text: fmt.Sprint(value)}
}

// tomlList returns a list of values, with their positions if known.
func tomlList[T any](list []T, places []resolver.Position) Node {
	return Node{Kind: '[', inside: func(yield func(key, value Node) bool) {
		for i, element := range list {
			n := tomlNode(element)
			if places != nil {
				n.At = places[i]
			}
			if !yield(Node{}, n) {
				return
			}
		}
	}}
}
