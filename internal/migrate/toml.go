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
	begin := t.Position(1, 1)
	if at := costlyPart(text); at >= 0 {
		return root, ErrorAt(placeIn(text[:at], begin), "a key has more than 64 parts here, or more "+
			"than a thousand brackets are open; remove everything but the redirects")
	}
	var file map[string]any
	if _, err := toml.Decode(text, &file); err != nil {
		message := err.Error()
		if wrong, ok := errors.AsType[toml.ParseError](err); ok {
			begin = t.Position(max(1, wrong.Position.Line), max(1, wrong.Position.Col))
			message = strings.TrimPrefix(wrong.Message, "toml: ")
		}
		return root, ErrorAt(begin, "this is not valid TOML: "+message)
	}
	return tomlTable(file, func(name string) Node {
		if tables, ok := file[name].([]map[string]any); ok {
			places := placesOf(name, len(tables), text, begin)
			return collection('[', begin, len(tables), func(i int) (_, value Node) {
				value = tomlNode(tables[i])
				value.At = places[i]
				return Node{}, value
			})
		}
		return tomlNode(file[name])
	}), nil
}

// longKey matches a key of more than 64 parts.
var longKey = regexp.MustCompile(`(?:(?:[\w-]+|"[^"]*"|'[^']*')[ \t]*\.[ \t]*){64}`)

// costlyPart returns where a text would cost the library too much time or memory, or -1.
func costlyPart(text string) (at int) {
	const mostOpen = 1000
	open, dots, isLong := 0, 0, false
	for at := range len(text) {
		switch text[at] {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '\n':
			dots = 0
		case '.':
			dots++
			isLong = isLong || dots >= 64 // in a line; the regular expression is slow
		}
		if open > mostOpen {
			return at
		}
	}
	if isLong {
		if found := longKey.FindStringIndex(text); found != nil {
			return found[0]
		}
	}
	return -1
}

// placesOf returns the positions of the tables in a top-level array. They are unknown if a
// multi-line text contains what looks like a header.
func placesOf(name string, count int, text string, at resolver.Position) []resolver.Position {
	header := `(?m)^[ \t]*\[\[[ \t"']*` + regexp.QuoteMeta(name) + `[ \t"']*\]\]`
	headers := regexp.MustCompile(header).FindAllStringIndex(text, -1)
	places := slices.Repeat([]resolver.Position{at}, count)
	for i, passed := 0, 0; len(headers) == count && i < count; i++ {
		at = placeIn(text[passed:headers[i][0]], at)
		places[i], passed = at, headers[i][0]
	}
	return places
}

// tomlNode returns the node of a library value.
func tomlNode(value any) Node {
	switch v := value.(type) {
	case string:
		return Node{Kind: '"', Text: v}
	case map[string]any:
		return tomlTable(v, func(name string) Node { return tomlNode(v[name]) })
	case []map[string]any:
		return tomlList(v)
	case []any:
		return tomlList(v)
	}
	return Node{Kind: 'w', Text: fmt.Sprint(value)}
}

// tomlTable returns the node of a table, with members sorted by name.
func tomlTable(table map[string]any, member func(name string) Node) Node {
	names := slices.Sorted(maps.Keys(table))
	return collection('{', resolver.Position{}, len(names), func(i int) (key, value Node) {
		return Node{Text: names[i]}, member(names[i])
	})
}

func tomlList[T any](list []T) Node {
	return collection('[', resolver.Position{}, len(list), func(i int) (_, value Node) {
		return Node{}, tomlNode(list[i])
	})
}
