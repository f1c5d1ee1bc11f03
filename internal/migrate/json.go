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

// JSON is a value of a JSON text, with the place where it begins.
type JSON struct {
	At   resolver.Position
	Name string // that it has in an object
	// Kind is '{', '[', '"', or 'w' for a number, true, false or null.
	Kind byte
	// Text is what a string says, or how another word is written.
	Text string
	// IsBroken is set on a string that is no Unicode text.
	IsBroken bool
	// Inside are the members of an object, or the elements of a list, in their order. What stands
	// deeper than any list of redirects is left out.
	Inside []JSON
	// IsCut is set on an object or a list in which there is a mistake, behind what is inside.
	IsCut bool
}

// String says in words what a value is.
func (v JSON) String() string {
	switch v.Kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return Quote(v.Text)
	}
	return v.Text
}

// Truth returns what a value says that is true or false.
func (v JSON) Truth() (is, ok bool) {
	is = v.Kind == 'w' && v.Text == "true"
	return is, is || v.Kind == 'w' && v.Text == "false"
}

// Member returns the member of an object with a name, the zero value if there is none.
func (v JSON) Member(name string) JSON {
	for _, member := range v.Inside {
		if member.Name == name {
			return member
		}
	}
	return JSON{}
}

// DecodeJSON returns the values of a text, one or several behind each other. At a mistake it
// returns what is in front of it, too.
func DecodeJSON(text []byte, source string) (values []JSON, err error) {
	d := jsonDecoder{text: text, decoder: json.NewDecoder(bytes.NewReader(text)),
		at: resolver.Position{Source: source, Line: 1, Column: 1}}
	d.decoder.UseNumber() // of any size
	for err == nil {
		var v JSON
		if v, err = d.value(0); v.Kind != 0 {
			values = append(values, v)
		}
		if rest := d.text[d.decoder.InputOffset():]; err == nil && len(bytes.TrimSpace(rest)) == 0 {
			return values, nil
		}
	}
	return values, ErrorAt(d.at, explainJSON(err))
}

// explainJSON says what is no JSON.
func explainJSON(err error) string {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return "this is no JSON: it ends too early"
	}
	return fmt.Sprintf("this is no JSON: %s; it has no comments, texts stand in double quotation "+
		"marks, and there is a comma between two values", err)
}

// jsonDecoder decodes values of a text.
type jsonDecoder struct {
	text    []byte
	decoder *json.Decoder
	begin   int // of the last token
	at      resolver.Position
}

// token reads the next token.
func (d *jsonDecoder) token() (json.Token, error) {
	rest := d.text[d.decoder.InputOffset():]
	begin := len(d.text) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	passed := d.text[d.begin:begin]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		d.at.Line += bytes.Count(passed, []byte("\n"))
		d.at.Column = len(passed) - last
	} else {
		d.at.Column += len(passed)
	}
	d.begin = begin
	return d.decoder.Token()
}

// value reads a value that stands so deep in others.
func (d *jsonDecoder) value(depth int) (v JSON, err error) {
	token, err := d.token()
	if err != nil {
		return v, err
	}
	v.At = d.at
	switch token := token.(type) {
	case json.Delim:
		v.Kind = byte(token)
		err = d.readInside(&v, depth)
		v.IsCut = err != nil
		return v, err
	case string:
		raw := d.text[d.begin:d.decoder.InputOffset()]
		v.Kind, v.Text = '"', token
		v.IsBroken = !utf8.Valid(raw) || HasHalfCharacter(token, raw)
	default:
		v.Kind, v.Text = 'w', string(d.text[d.begin:d.decoder.InputOffset()])
	}
	return v, nil
}

// readInside reads what is inside an object or a list, up to its end.
func (d *jsonDecoder) readInside(v *JSON, depth int) error {
	const deepest = 8
	if depth == deepest {
		return d.skip()
	}
	for d.decoder.More() {
		var name json.Token
		var err error
		if v.Kind == '{' {
			if name, err = d.token(); err != nil {
				return err
			}
		}
		value, err := d.value(depth + 1)
		value.Name, _ = name.(string)
		if value.Kind != 0 {
			v.Inside = append(v.Inside, value)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

// skip passes over what is inside an object or a list, and its end.
func (d *jsonDecoder) skip() error {
	for depth := 1; depth > 0; {
		token, err := d.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// HasHalfCharacter reports whether an escape in raw is half a surrogate pair. Then the library has
// put U+FFFD into text, where raw says nothing of that character.
func HasHalfCharacter(text string, raw []byte) bool {
	n := strings.Count(text, "\uFFFD")
	return n > 0 && n > bytes.Count(raw, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(raw),
		[]byte(`\ufffd`))
}
