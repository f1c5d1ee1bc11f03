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
		if err = d.Decode(new(length)); err == nil {
			end = int(d.InputOffset())
		}
	}
	values = Node{At: begin, Kind: '[', inside: jsonText{text[:end], begin}.inside(0)}
	if err == io.EOF && end > 0 {
		return values, nil
	}
	at := len(text)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(wrong.Offset) - 1
	}
	mistake := jsonText{text, begin}
	mistake.skip(at)
	message := explainJSON(err)
	if end > 0 {
		message += "; nothing is read from here on"
	}
	return values, ErrorAt(mistake.at, message)
}

// length is the length of a value, which is skipped.
type length int

func (l *length) UnmarshalJSON(value []byte) error {
	*l = length(len(value))
	return nil
}

// explainJSON describes a syntax error.
func explainJSON(err error) string {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return "this is not JSON: it ends too early"
	}
	return fmt.Sprintf("this is not JSON: %s; JSON has no comments, strings are in double quotes, "+
		"and commas separate values", err)
}

// jsonText is the remainder of a well-formed text, and its position.
type jsonText struct {
	string
	at resolver.Position
}

// skip skips some bytes, and counts lines.
func (t *jsonText) skip(length int) {
	passed := t.string[:length]
	if last := strings.LastIndexByte(passed, '\n'); last >= 0 {
		t.at.Line += strings.Count(passed, "\n")
		t.at.Column = length - last
	} else {
		t.at.Column += length
	}
	t.string = t.string[length:]
}

// inside returns the members of an object or the elements of a list. For kind 0 it returns the
// values of the text.
func (t jsonText) inside(kind byte) iter.Seq2[Node, Node] {
	return func(yield func(key, value Node) bool) {
		rest, d := t, json.NewDecoder(strings.NewReader(t.string))
		if kind != 0 {
			d.Token() // the brace or the bracket
		}
		for d.More() {
			var key Node
			if kind == '{' {
				name, _ := d.Token()
				key.Text, _ = name.(string)
			}
			var written length
			if d.Decode(&written) != nil {
				return
			}
			end := int(d.InputOffset())
			rest.skip(end - int(written) - (len(t.string) - len(rest.string)))
			if !yield(key, jsonNode(rest.string[:written], rest.at)) {
				return
			}
		}
	}
}

// decodedOnce is the longest object or list that is decoded once, and not each time a member of it
// is looked for. An entry is such an object; the list of all entries is not, and takes no memory.
const decodedOnce = 4096

// once returns a sequence that keeps its elements.
func once(inside iter.Seq2[Node, Node]) iter.Seq2[Node, Node] {
	var keys, values []Node
	return func(yield func(key, value Node) bool) {
		if keys == nil {
			for key, value := range inside {
				keys, values = append(keys, key), append(values, value)
			}
		}
		for i, key := range keys {
			if !yield(key, values[i]) {
				return
			}
		}
	}
}

// jsonNode returns the value of a text.
func jsonNode(written string, at resolver.Position) Node {
	n := Node{At: at, Kind: written[0]}
	switch n.Kind {
	case '{', '[':
		n.inside = jsonText{written, at}.inside(n.Kind)
		if len(written) <= decodedOnce {
			n.inside = once(n.inside)
		}
	case '"':
		if n.Text = written[1 : len(written)-1]; strings.Contains(n.Text, `\`) {
			_ = json.Unmarshal([]byte(written), &n.Text)
		}
	default:
		n.Kind, n.Text = 'w', written
	}
	return n
}
