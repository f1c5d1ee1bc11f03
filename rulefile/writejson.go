package rulefile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteJSON writes rules as one object, in order and each on its own line. [ReadJSON] reads it. The
// error is that of w, or an [Errors] that lists the rules left out, because no file can contain
// them.
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
	return cmp.Or(b.Flush(), errs.orNil()) // the first error of all writes
}

// JSONValue returns the value of a rule's member in an object of rules: a string, an object if
// there is more than the destination, or an array if there are several windows.
func JSONValue(rule resolver.Rule) string { return string(newJSONEncoder().value(rule)) }

// jsonEncoder encodes rules one by one. Its results are valid until it encodes again.
type jsonEncoder struct {
	encoder *json.Encoder
	encoded bytes.Buffer // what encoder has written
	// The value to encode, here to avoid allocations: a string, or an object.
	text string
	more schedule.Value
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
	if rule.Windows != "" {
		return []byte(rule.Windows)
	}
	e.more = schedule.ValueOf(schedule.Always(rule))
	return e.encode(&e.more)
}

// encode returns what v points to as JSON.
func (e *jsonEncoder) encode(v any) []byte {
	e.encoded.Reset()
	if err := e.encoder.Encode(v); err != nil {
		panic(err) // strings, numbers and booleans always have a JSON form
	}
	return bytes.TrimSuffix(e.encoded.Bytes(), []byte("\n"))
}
