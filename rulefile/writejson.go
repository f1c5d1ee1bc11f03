package rulefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteJSON writes rules as one object, in their order and each on its own line. [ReadJSON] reads
// it. The error is w's own, or of type [Errors] and lists the rules that are left out, as no file
// of rules can hold them.
func WriteJSON(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	j := newJSONWriter(w)
	for rule := range rules {
		if err := checkWritable(rule); err != nil {
			j.errs.leaveOut(rule, err)
			continue
		}
		j.write(rule)
	}
	return j.close()
}

// jsonWriter writes one object of rules.
type jsonWriter struct {
	w       *bufio.Writer
	rules   int
	errs    Errors
	encoder *json.Encoder
	encoded bytes.Buffer // what encoder has written
	rule    jsonRule     // here, so that encoding it allocates nothing
}

// jsonRule is a rule as the encoder takes it: its key, and a value of either form.
type jsonRule struct {
	key   string
	value string
	more  struct {
		To       string `json:"to"`
		Status   int    `json:"status,omitempty"`
		Exact    bool   `json:"exact,omitempty"`
		Unlisted bool   `json:"unlisted,omitempty"`
		Query    string `json:"query,omitempty"`
		Note     string `json:"note,omitempty"`
	}
}

func newJSONWriter(w io.Writer) *jsonWriter {
	j := &jsonWriter{w: bufio.NewWriter(w)}
	j.encoder = json.NewEncoder(&j.encoded)
	// "&", "<" and ">" stay what they are: they are common in URLs, and nobody embeds
	// rules in HTML.
	j.encoder.SetEscapeHTML(false)
	return j
}

// write writes a rule.
func (j *jsonWriter) write(rule resolver.Rule) {
	separator := ",\n\t"
	if j.rules == 0 {
		separator = "{\n\t"
	}
	j.rules++
	j.w.WriteString(separator)
	j.encodeKey(rule)
	j.w.WriteString(": ")
	j.encodeValue(rule)
}

func (j *jsonWriter) encodeKey(rule resolver.Rule) {
	j.rule.key = rule.Key
	j.encode(&j.rule.key)
}

// encodeValue writes a rule's value, as a plain string where there is nothing to say but the
// destination.
func (j *jsonWriter) encodeValue(rule resolver.Rule) {
	if rule.IsPlain() {
		j.rule.value = rule.Value
		j.encode(&j.rule.value)
		return
	}
	more := &j.rule.more
	more.To, more.Status, more.Note = rule.Value, rule.Status, rule.Note
	more.Exact, more.Unlisted, more.Query = rule.Exact, rule.Unlisted, rule.Query.String()
	j.encode(more)
}

// encode writes what v points to as JSON.
func (j *jsonWriter) encode(v any) {
	j.encoded.Reset()
	if err := j.encoder.Encode(v); err != nil {
		panic(err) // strings, numbers and truth values always have a JSON form
	}
	j.w.Write(bytes.TrimSuffix(j.encoded.Bytes(), []byte("\n")))
}

// close ends the object.
func (j *jsonWriter) close() error {
	if j.rules == 0 {
		j.w.WriteByte('{')
	}
	j.w.WriteString("\n}\n")
	if err := j.w.Flush(); err != nil { // the first error of all that was written
		return err
	}
	return j.errs.orNil()
}
