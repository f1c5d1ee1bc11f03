package printable

import (
	"bytes"
	"encoding/json"
	"io"
)

// NewJSONEncoder returns an encoder to w that does not escape "&", "<" and ">": people read its
// output, and nobody embeds it in HTML.
func NewJSONEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// JSON returns a value as NewJSONEncoder writes it, without a line end.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	err := NewJSONEncoder(&b).Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
