package migrate

import (
	"errors"
	"iter"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Node is a value of a file in JSON, YAML or TOML. What is inside it is looked at when it is asked
// for, so that of a long list one element at a time takes memory.
type Node struct {
	// At is where it begins; the zero Position where the library does not tell.
	At resolver.Position
	// Kind is '{' for an object, '[' for a list, '"' for a text, 'w' for a number, true, false or
	// null, and 0 for what is not there.
	Kind byte
	// Text is what a text says, or how another word is written.
	Text string
	// IsBroken is set on a text that is no Unicode.
	IsBroken bool

	inside iter.Seq2[Node, Node]
}

// Inside returns the members of an object with their keys, or the elements of a list, in their
// order. There keys are zero nodes.
func (n Node) Inside() iter.Seq2[Node, Node] {
	if n.inside == nil {
		return func(func(Node, Node) bool) {}
	}
	return n.inside
}

// Member returns the member of an object with a name, the zero Node if there is none.
func (n Node) Member(name string) Node {
	for key, member := range n.Inside() {
		if key.Text == name && n.Kind == '{' {
			return member
		}
	}
	return Node{}
}

// IsEmpty reports whether there is nothing in an object or a list.
func (n Node) IsEmpty() bool {
	for range n.Inside() {
		return false
	}
	return true
}

// Truth returns what a value says that is true or false.
func (n Node) Truth() (is, ok bool) {
	is = n.Kind == 'w' && n.Text == "true"
	return is, is || n.Kind == 'w' && n.Text == "false"
}

// Check refuses a text that no path and no URL holds. Messages call it what.
func (n Node) Check(what string) error {
	if n.IsBroken {
		return errors.New(what + " " + notUnicode)
	}
	return CheckText(what, n.Text)
}

// String says in words what a value is.
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
