package rulefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// ReadJSON reads rules in the draft's own form, an object from key to value. A value
// is the destination as a string or, where a rule has more to say, an object:
//
//	{
//		"github": "https://github.com",
//		"paper": {"to": "https://example.com/paper.pdf", "status": 301, "exact": true, "unlisted": true}
//	}
//
// Each rule is passed to add as soon as it is read; its position is source, and the
// line and column of its key. A key that stands twice is passed twice. The error is of
// type [Errors] and lists everything that is no rule, until the end or the first
// syntax error, or it is the reader's own.
func ReadJSON(r io.Reader, source string, add func(resolver.Rule)) error {
	input := newTracker(withoutByteOrderMark(r))
	j := &jsonReader{input: input, tokens: json.NewDecoder(input), source: source}
	j.tokens.UseNumber()
	if err := j.read(add); err != nil {
		stop, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		j.errs = append(j.errs, stop)
	}
	if len(j.errs) > 0 {
		return j.errs
	}
	return nil
}

// withoutByteOrderMark drops the mark that some editors put in front of UTF-8
// (RFC 8259 8.1 lets a reader ignore it).
func withoutByteOrderMark(r io.Reader) io.Reader {
	const mark = "\uFEFF"
	b := bufio.NewReader(r)
	if start, _ := b.Peek(len(mark)); string(start) == mark {
		b.Discard(len(mark)) //nolint:errcheck // it has just been seen
	}
	return b
}

// jsonReader reads one object of rules. Its methods return an error only for what
// ends the reading; whatever can be got over is put into errs.
type jsonReader struct {
	input  *tracker
	tokens *json.Decoder
	source string
	errs   Errors
}

// token is a JSON token, with where it begins.
type token struct {
	value json.Token
	at    resolver.Position
}

// read reads the whole input.
func (j *jsonReader) read(add func(resolver.Rule)) error {
	err := j.readRules(add)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{j.position(), "this is no JSON: it ends too early"}
	}
	if err != nil {
		return err
	}
	extra, err := j.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return &Error{extra.at, "nothing may follow the object of rules"}
}

// readRules reads the object.
func (j *jsonReader) readRules(add func(resolver.Rule)) error {
	start, err := j.next()
	if err != nil {
		return err
	}
	if start.value != json.Delim('{') {
		return &Error{start.at, "rules are an object from key to destination, not " + kindOf(start.value)}
	}
	for j.tokens.More() {
		if err := j.readRule(add); err != nil {
			return err
		}
	}
	_, err = j.next() // the object's end
	return err
}

// readRule reads a key and its value.
func (j *jsonReader) readRule(add func(resolver.Rule)) error {
	errsBefore := len(j.errs)
	key, err := j.next()
	if err != nil {
		return err
	}
	rule := resolver.Rule{Position: key.at}
	rule.Key, _ = key.value.(string) // the decoder refuses every other kind of key
	if err := j.readValue(&rule); err != nil {
		return err
	}
	if len(j.errs) == errsBefore {
		add(rule)
	}
	return nil
}

// readValue reads the value of rule's key into it.
func (j *jsonReader) readValue(rule *resolver.Rule) error {
	value, err := j.next()
	if err != nil {
		return err
	}
	if destination, ok := value.value.(string); ok {
		rule.Value = destination
		return nil
	}
	if value.value == json.Delim('{') {
		return j.readMembers(rule, value.at)
	}
	j.report(value.at, `the value of %q is %s: write the destination as a string, or as an object {"to": "…"}`,
		rule.Key, kindOf(value.value))
	return j.skip(value)
}

// readMembers reads the members of a value that is an object, whose "{" stands at start.
func (j *jsonReader) readMembers(rule *resolver.Rule, start resolver.Position) error {
	var seen []string
	for j.tokens.More() {
		name, err := j.next()
		if err != nil {
			return err
		}
		member, _ := name.value.(string)
		if slices.Contains(seen, member) {
			j.report(name.at, "%q stands twice in the value of %q", member, rule.Key)
		}
		seen = append(seen, member)
		if err := j.readMember(rule, member, name.at); err != nil {
			return err
		}
	}
	if !slices.Contains(seen, "to") {
		j.report(start, `the value of %q has no "to", which is the destination`, rule.Key)
	}
	_, err := j.next() // the object's end
	return err
}

// readMember reads the value of the member that stands at a position into rule.
func (j *jsonReader) readMember(rule *resolver.Rule, name string, at resolver.Position) error {
	value, err := j.next()
	if err != nil {
		return err
	}
	var ok bool
	var want string
	switch name {
	case "to":
		rule.Value, ok = value.value.(string)
		want = "a string"
	case "status":
		rule.Status, ok = statusCode(value.value)
		want = "301, 302, 303, 307 or 308"
	case "exact":
		rule.Exact, ok = value.value.(bool)
		want = "true or false"
	case "unlisted":
		rule.Unlisted, ok = value.value.(bool)
		want = "true or false"
	default:
		j.report(at, `the value of %q has a member %q; the members are "to", "status", "exact" and "unlisted"`, rule.Key, name)
		return j.skip(value)
	}
	if !ok {
		j.report(value.at, "%q in the value of %q takes %s, not %s", name, rule.Key, want, kindOf(value.value))
	}
	return j.skip(value)
}

// statusCode returns the status that v writes down.
func statusCode(v json.Token) (int, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	code, err := strconv.Atoi(number.String())
	return code, err == nil && resolver.ValidStatus(code)
}

// skip passes over the rest of a value whose first token has been read.
func (j *jsonReader) skip(value token) error {
	depth := 0
	for {
		switch value.value {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if value, err = j.next(); err != nil {
			return err
		}
	}
}

// next reads a token. Its error is one that ends the reading: io.EOF behind the last
// token, an [*Error] for what is no JSON, or the reader's own.
func (j *jsonReader) next() (token, error) {
	value, err := j.tokens.Token()
	end := j.tokens.InputOffset()
	if err != nil {
		j.input.pass(end)
		return token{}, j.syntaxError(err)
	}
	j.input.passAny(" \t\r\n,:")
	at := j.position()
	if text, ok := value.(string); ok && !isUnicode(text, j.input.until(end)) {
		j.report(at, "this string is no Unicode text: save the file as UTF-8")
	}
	j.input.pass(end)
	return token{value, at}, nil
}

// syntaxError says where an error of the decoder is, if it is about the JSON.
func (j *jsonReader) syntaxError(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &Error{j.position(), "this is no JSON: " + syntax.Error()}
	}
	return err
}

// isUnicode reports whether nothing was lost when text was decoded from raw: the
// decoder puts U+FFFD for what it does not understand.
func isUnicode(text string, raw []byte) bool {
	if !strings.ContainsRune(text, utf8.RuneError) {
		return true
	}
	written := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(text, "\uFFFD") == written
}

// position returns where the reading is.
func (j *jsonReader) position() resolver.Position {
	return resolver.Position{Source: j.source, Line: j.input.line, Column: j.input.column()}
}

// report takes down an error that does not end the reading.
func (j *jsonReader) report(at resolver.Position, format string, args ...any) {
	j.errs = append(j.errs, &Error{at, fmt.Sprintf(format, args...)})
}

// kindOf says in words what a token begins.
func kindOf(v json.Token) string {
	switch v {
	case nil:
		return "null"
	case json.Delim('{'):
		return "an object"
	case json.Delim('['):
		return "an array"
	}
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	default:
		return fmt.Sprint(v)
	}
}

// WriteJSON writes rules as one object, in their order and each on its own line: the
// form that [ReadJSON] reads. The error is w's own.
func WriteJSON(w io.Writer, rules []resolver.Rule) error {
	b := bufio.NewWriter(w)
	separator := "{\n\t"
	for _, rule := range rules {
		b.WriteString(separator)
		b.Write(encode(rule.Key))
		b.WriteString(": ")
		b.Write(encode(valueOf(rule)))
		separator = ",\n\t"
	}
	if len(rules) == 0 {
		b.WriteByte('{')
	}
	b.WriteString("\n}\n")
	return b.Flush() // gives the first error of all that was written
}

// valueOf returns what is written as the value of rule's key: a plain string when there
// is nothing to say but the destination.
func valueOf(rule resolver.Rule) any {
	if rule.Status == 0 && !rule.Exact && !rule.Unlisted {
		return rule.Value
	}
	return struct {
		To       string `json:"to"`
		Status   int    `json:"status,omitempty"`
		Exact    bool   `json:"exact,omitempty"`
		Unlisted bool   `json:"unlisted,omitempty"`
	}{rule.Value, rule.Status, rule.Exact, rule.Unlisted}
}

// encode returns v as JSON in which "&", "<" and ">" stay what they are: they are
// common in URLs, and nobody embeds rules in HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers and truth values always have a JSON form
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
