package resolver

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON returns the step, and of its rule what names that.
func (s Step) MarshalJSON() ([]byte, error) {
	captures := map[string]string{}
	for _, capture := range s.Captures {
		captures[capture.Name] = capture.Raw
	}
	return marshal(struct {
		Pathname  string            `json:"pathname"`
		Key       string            `json:"key"`
		Value     string            `json:"value"`
		Captures  map[string]string `json:"captures,omitempty"`
		Remaining string            `json:"remaining,omitempty"`
		Position  string            `json:"position,omitempty"`
		Note      string            `json:"note,omitempty"`
	}{
		s.Pathname, s.Rule.Key, s.Value, captures, s.Remaining, s.Rule.Position.String(), s.Rule.Note,
	})
}

// marshal leaves it to the encoder of what a value is a part of whether to escape for HTML.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
