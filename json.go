package shortlink

import (
	"bytes"
	"encoding/json"
	"io"
)

// newJSONEncoder returns an encoder to w that leaves "&", "<" and ">" as they are: nobody embeds
// its answers in HTML, and people read them.
func newJSONEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// jsonOf returns a value as newJSONEncoder writes it, without a line end.
func jsonOf(value any) ([]byte, error) {
	var b bytes.Buffer
	err := newJSONEncoder(&b).Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
