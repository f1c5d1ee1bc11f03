package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// DecodeJSON returns the values of a text as a list. After a mistake, the list holds the values in
// front of it.
func (t *Table) DecodeJSON(text string) (values Node, err error) {
	begin := t.Position(1, 1)
	d, end := json.NewDecoder(strings.NewReader(text)), 0
	for err == nil {
		end = int(d.InputOffset())
		err = d.Decode(new(valueSize))
	}
	values = Node{At: begin, Kind: '[', inside: insideJSON(text[:end], 0, begin)}
	if err == io.EOF && end > 0 {
		return values, nil
	}
	at, message := len(text), "this is not JSON: it ends too early"
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(wrong.Offset) - 1
		message = fmt.Sprintf("this is not JSON: %s; JSON has no comments, strings are in double "+
			"quotes, and commas separate values", err)
	}
	if end > 0 {
		message += "; nothing is read from here on"
	}
	return values, ErrorAt(placeIn(text[:at], begin), message)
}

// valueSize is the length of a value whose text is skipped.
type valueSize int

func (s *valueSize) UnmarshalJSON(text []byte) error {
	*s = valueSize(len(text))
	return nil
}

// insideJSON returns the members of an object or the elements of a list, whose text begins at a
// position. For kind 0 it returns the values of the text.
func insideJSON(text string, kind byte, at resolver.Position) iter.Seq2[Node, Node] {
	return func(yield func(key, value Node) bool) {
		d, at, passed := json.NewDecoder(strings.NewReader(text)), at, 0
		if kind != 0 {
			d.Token() // the brace or the bracket
		}
		for d.More() {
			var key Node
			if kind == '{' {
				name, _ := d.Token()
				key.Text, _ = name.(string)
			}
			var size valueSize
			if d.Decode(&size) != nil {
				return
			}
			end := int(d.InputOffset())
			begin := end - int(size)
			at, passed = placeIn(text[passed:begin], at), begin
			if !yield(key, jsonNode(text[begin:end], at)) {
				return
			}
		}
	}
}

// decodedOnce is the longest object or list that is decoded once, and not each time a member of it
// is looked for. An entry is such an object; the list of all entries is not, and takes no memory.
const decodedOnce = 4096

// once returns members that are decoded when they are asked for, and then kept.
func once(inside iter.Seq2[Node, Node]) iter.Seq2[Node, Node] {
	var members [][2]Node
	return func(yield func(key, value Node) bool) {
		if members == nil {
			for key, value := range inside {
				members = append(members, [2]Node{key, value})
			}
		}
		keep(0, resolver.Position{}, members).inside(yield)
	}
}

// jsonNode returns the value of a text.
func jsonNode(text string, at resolver.Position) Node {
	n := Node{At: at, Kind: text[0]}
	switch n.Kind {
	case '{', '[':
		n.inside = insideJSON(text, n.Kind, at)
		if len(text) <= decodedOnce {
			n.inside = once(n.inside)
		}
	case '"':
		if n.Text = text[1 : len(text)-1]; strings.Contains(n.Text, `\`) {
			_ = json.Unmarshal([]byte(text), &n.Text)
		}
	default:
		n.Kind, n.Text = 'w', text
	}
	return n
}
