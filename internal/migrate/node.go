package migrate

import (
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Node is a value of a file in JSON, YAML, TOML or XML. A long list in JSON is decoded one element
// at a time, again each time it is read, so that it needs memory for its text alone.
type Node struct {
	// At is the position of the value. It is zero if the library does not report one.
	At resolver.Position
	// Kind is '{' for an object, '[' for a list and '"' for a text. It is 'w' for a number, true,
	// false or null, and 0 for a missing value.
	Kind byte
	// Text is the content of a text, or another word as written.
	Text string

	inside iter.Seq2[Node, Node]
}

// collection returns an object or a list of n members. The key of a list's member is zero.
func collection(kind byte, at resolver.Position, n int, member func(i int) (key, value Node)) Node {
	return Node{At: at, Kind: kind, inside: func(yield func(key, value Node) bool) {
		for i := range n {
			if !yield(member(i)) {
				return
			}
		}
	}}
}

// keep returns an object or a list with members that have been decoded.
func keep(kind byte, at resolver.Position, members [][2]Node) Node {
	return collection(kind, at, len(members), func(i int) (key, value Node) {
		return members[i][0], members[i][1]
	})
}

// placeIn returns the position of the end of a text that begins at a position.
func placeIn(text string, begin resolver.Position) resolver.Position {
	if lines := strings.Count(text, "\n"); lines > 0 {
		begin.Line, begin.Column = begin.Line+lines, 1
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	begin.Column += len(text)
	return begin
}

// Inside returns the members of an object with their keys, or the elements of a list, in order. The
// keys of a list are zero nodes.
func (n Node) Inside() iter.Seq2[Node, Node] {
	if n.inside == nil {
		return func(func(Node, Node) bool) {}
	}
	return n.inside
}

// Member returns the member of an object by name, or the zero Node.
func (n Node) Member(name string) Node {
	for key, member := range n.Inside() {
		if key.Text == name && n.Kind == '{' {
			return member
		}
	}
	return Node{}
}

// IsEmpty reports whether an object or a list is empty.
func (n Node) IsEmpty() bool {
	for range n.Inside() {
		return false
	}
	return true
}

// String describes a value in words.
func (n Node) String() string {
	switch n.Kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return printable.Quote(n.Text)
	}
	return printable.Text(n.Text)
}
