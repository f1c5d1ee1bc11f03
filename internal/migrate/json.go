package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// DecodeJSON returns a list of the values of a text, one or several behind each other. At a mistake
// it has those in front.
func (t *Table) DecodeJSON(text string) (values Node, err error) {
	begin := t.Position(1, 1)
	d, end := json.NewDecoder(strings.NewReader(text)), 0
	for err == nil {
		if err = d.Decode(new(unread)); err == nil {
			end = int(d.InputOffset())
		}
	}
	values = Node{At: begin, Kind: '[', inside: jsonInside('[', text[:end], begin)}
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

// unread is a value whose text is passed over.
type unread struct{}

func (*unread) UnmarshalJSON([]byte) error { return nil }

// explainJSON says what is no JSON.
func explainJSON(err error) string {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return "this is no JSON: it ends too early"
	}
	return fmt.Sprintf("this is no JSON: %s; it has no comments, texts stand in double quotation "+
		"marks, and there is a comma between two values", err)
}

// jsonText is what is left of a well-formed text, and where that begins.
type jsonText struct {
	string
	at resolver.Position
}

// skip passes over some bytes, and counts lines.
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

// skipSpace passes over what stands between values, and reports whether there is another one.
func (t *jsonText) skipSpace() bool {
	t.skip(len(t.string) - len(strings.TrimLeft(t.string, " \t\r\n,:")))
	return t.string != "" && t.string[0] != '}' && t.string[0] != ']'
}

// next returns the next value.
func (t *jsonText) next() (n Node) {
	end := jsonEnd(t.string)
	written := t.string[:end]
	n.At, n.Kind = t.at, written[0]
	switch n.Kind {
	case '{', '[':
		inside := jsonText{t.string[:end], t.at}
		inside.skip(1)
		n.inside = jsonInside(n.Kind, inside.string, inside.at)
	case '"':
		n.Text, n.IsBroken = unquoteJSON(written)
	default:
		n.Kind, n.Text = 'w', written
	}
	t.skip(end)
	return n
}

// jsonInside returns what stands in an object or a list.
func jsonInside(kind byte, text string, at resolver.Position) func(func(Node, Node) bool) {
	return func(yield func(key, value Node) bool) {
		for t := (jsonText{text, at}); t.skipSpace(); {
			var key Node
			if kind == '{' {
				key = t.next()
				t.skipSpace()
			}
			if !yield(key, t.next()) {
				return
			}
		}
	}
}

// jsonEnd returns where the value ends with which a well-formed text begins.
func jsonEnd(text string) int {
	depth, inText := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inText && c == '\\':
			i++
			continue
		case c == '"':
			inText = !inText
		case inText:
			continue
		case c == '{', c == '[':
			depth++
		case c == '}' && depth > 0, c == ']' && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(" \t\r\n,:]}", c) >= 0:
			return i
		default:
			continue
		}
		if depth == 0 && !inText {
			return i + 1
		}
	}
	return len(text)
}

// unquoteJSON returns what a string says, and whether that is no Unicode. For half a surrogate pair
// the library puts U+FFFD into the text, where what is written says nothing of that character.
func unquoteJSON(written string) (text string, isBroken bool) {
	if text = written[1 : len(written)-1]; !utf8.ValidString(text) || strings.Contains(text, `\`) {
		_ = json.Unmarshal([]byte(written), &text)
		n, of := strings.Count(text, "\uFFFD"), bytes.ToLower([]byte(written))
		isBroken = !utf8.ValidString(written) ||
			n > bytes.Count(of, []byte("\uFFFD"))+bytes.Count(of, []byte(`\ufffd`))
	}
	return text, isBroken
}
