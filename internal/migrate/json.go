package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// JSON is a value of a JSON text, with the place where it begins. What is inside it is decoded when
// it is asked for, so that of a long list one element at a time takes memory.
type JSON struct {
	At   resolver.Position
	Name string // that it has in an object
	// Kind is '{', '[', '"', or 'w' for a number, true, false or null.
	Kind byte
	// Text is what a string says, or how another word is written.
	Text string
	// IsBroken is set on a string that is no Unicode text.
	IsBroken bool

	raw []byte // of an object or a list
}

// String says in words what a value is.
func (v JSON) String() string {
	switch v.Kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return printable.Quote(v.Text)
	}
	return v.Text
}

// Truth returns what a value says that is true or false.
func (v JSON) Truth() (is, ok bool) {
	is = v.Kind == 'w' && v.Text == "true"
	return is, is || v.Kind == 'w' && v.Text == "false"
}

// Inside returns the members of an object, or the elements of a list, in their order.
func (v JSON) Inside() iter.Seq[JSON] {
	return func(yield func(JSON) bool) {
		if v.raw == nil {
			return
		}
		d := newJSONDecoder(v.raw, v.At)
		for _, err := d.Token(); err == nil && d.More(); {
			name := ""
			if v.Kind == '{' {
				token, _ := d.Token()
				name, _ = token.(string)
			}
			inside, err := d.next()
			if inside.Name = name; err != nil || !yield(inside) {
				return
			}
		}
	}
}

// Member returns the member of an object with a name, the zero value if there is none.
func (v JSON) Member(name string) JSON {
	for member := range v.Inside() {
		if member.Name == name {
			return member
		}
	}
	return JSON{}
}

// DecodeJSON returns the values of a text, one or several behind each other. At a mistake it
// returns those in front of it, too.
func DecodeJSON(text []byte, source string) (values []JSON, err error) {
	d := newJSONDecoder(text, resolver.Position{Source: source, Line: 1, Column: 1})
	for {
		v, err := d.next()
		if err == io.EOF && values != nil {
			return values, nil
		} else if err != nil {
			return values, ErrorAt(d.at, explainJSON(err))
		}
		values = append(values, v)
	}
}

// explainJSON says what is no JSON.
func explainJSON(err error) string {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return "this is no JSON: it ends too early"
	}
	return fmt.Sprintf("this is no JSON: %s; it has no comments, texts stand in double quotation "+
		"marks, and there is a comma between two values", err)
}

// jsonDecoder decodes values of a text one behind the other, and counts lines.
type jsonDecoder struct {
	*json.Decoder
	text  []byte
	begin int // of the last value, or where the mistake is
	at    resolver.Position
}

func newJSONDecoder(text []byte, at resolver.Position) *jsonDecoder {
	return &jsonDecoder{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text, at: at}
}

// next returns the next value.
func (d *jsonDecoder) next() (v JSON, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		begin := len(d.text)
		if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
			begin = int(wrong.Offset) - 1
		}
		d.goTo(begin)
		return v, err
	}
	end := int(d.InputOffset())
	d.goTo(end - len(raw))
	raw = d.text[d.begin:end]
	v.At, v.Kind = d.at, raw[0]
	switch v.Kind {
	case '{', '[':
		v.raw = raw
	case '"':
		err = json.Unmarshal(raw, &v.Text)
		v.IsBroken = !utf8.Valid(raw) || hasHalfCharacter(v.Text, raw)
	default:
		v.Kind, v.Text = 'w', string(raw)
	}
	return v, err
}

// goTo counts lines up to a byte of the text.
func (d *jsonDecoder) goTo(begin int) {
	passed := d.text[d.begin:begin]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		d.at.Line += bytes.Count(passed, []byte("\n"))
		d.at.Column = len(passed) - last
	} else {
		d.at.Column += len(passed)
	}
	d.begin = begin
}

// hasHalfCharacter reports whether an escape in raw is half a surrogate pair. Then the library has
// put U+FFFD into text, where raw says nothing of that character.
func hasHalfCharacter(text string, raw []byte) bool {
	n := strings.Count(text, "\uFFFD")
	return n > 0 && n > bytes.Count(raw, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(raw),
		[]byte(`\ufffd`))
}
