package rulefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteJSON writes rules as one object, in their order and each on its own line. [ReadJSON] reads
// it. The error is w's own, or of type [Errors] and lists the rules that are left out, as no file
// of rules can hold them.
func WriteJSON(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	b, encoder := bufio.NewWriter(w), newJSONEncoder()
	separator := "\n\t"
	b.WriteByte('{')
	for rule := range rules {
		if err := checkWritable(rule); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		b.WriteString(separator)
		b.Write(encoder.key(rule))
		b.WriteString(": ")
		b.Write(encoder.value(rule))
		separator = ",\n\t"
	}
	b.WriteString("\n}\n")
	if err := b.Flush(); err != nil { // the first error of all that was written
		return err
	}
	return errs.orNil()
}

// JSONValue returns the value of a rule's member in an object of rules. It is a string, or an
// object where there is more to say than the destination.
func JSONValue(rule resolver.Rule) string { return string(newJSONEncoder().value(rule)) }

// jsonEncoder encodes one rule after the other. What it returns is good until it encodes again.
type jsonEncoder struct {
	encoder *json.Encoder
	encoded bytes.Buffer // what encoder has written
	// What is encoded, here so that it allocates nothing: a string, or a value that says more.
	text string
	more struct {
		To       string `json:"to"`
		Status   int    `json:"status,omitempty"`
		Exact    bool   `json:"exact,omitempty"`
		Unlisted bool   `json:"unlisted,omitempty"`
		Query    string `json:"query,omitempty"`
		Note     string `json:"note,omitempty"`
	}
}

func newJSONEncoder() *jsonEncoder {
	e := new(jsonEncoder)
	e.encoder = printable.NewJSONEncoder(&e.encoded)
	return e
}

// key returns the name of a rule's member.
func (e *jsonEncoder) key(rule resolver.Rule) []byte {
	e.text = rule.Key
	return e.encode(&e.text)
}

// value returns the value of a rule's member.
func (e *jsonEncoder) value(rule resolver.Rule) []byte {
	if rule.IsPlain() {
		e.text = rule.Value
		return e.encode(&e.text)
	}
	e.more.To, e.more.Status, e.more.Note = rule.Value, rule.Status, rule.Note
	e.more.Exact, e.more.Unlisted, e.more.Query = rule.Exact, rule.Unlisted, rule.Query.String()
	return e.encode(&e.more)
}

// encode returns what v points to as JSON.
func (e *jsonEncoder) encode(v any) []byte {
	e.encoded.Reset()
	if err := e.encoder.Encode(v); err != nil {
		panic(err) // strings, numbers and truth values always have a JSON form
	}
	return bytes.TrimSuffix(e.encoded.Bytes(), []byte("\n"))
}
