package coverage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// jsonLine has the members of a line of JSON that count. The line is an entry of Caddy's access
// log, perhaps in the console format, or any object with a URL.
type jsonLine struct {
	Level, Msg json.RawMessage // only log entries have them
	Logger     string
	Time       json.RawMessage `json:"ts"` // a number, or a text
	Request    struct{ Method, Host, URI string }
	Status     int

	URL, URI, Path        string
	Count, Requests, Hits json.RawMessage // a number, perhaps in quotation marks
}

// readJSON counts the request of a line.
func (c *Counts) readJSON(line []byte) error {
	object, words := objectIn(line)
	if object == nil {
		return errors.New("not an object: " + excerpt(line))
	}
	var l jsonLine
	err := json.Unmarshal(object, &l)
	if wrongType := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &wrongType) {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	if words != nil {
		l.readWords(words)
	}
	if l.isAccess() {
		return c.countAccess(&l)
	}
	if len(l.Level) > 0 || len(l.Msg) > 0 {
		c.LeftOut.Entries++
		return nil
	}
	return c.countObject(&l)
}

// objectIn returns the object of a line, or nil. In the console format words precede it, with a tab
// after each.
func objectIn(line []byte) (object, words []byte) {
	if line[0] == '{' {
		return line, nil
	}
	if i := bytes.Index(line, []byte("\t{")); i >= 0 {
		return line[i+1:], line[:i]
	}
	return nil, nil
}

// readWords reads the words of the console format: time, level, logger and message.
func (l *jsonLine) readWords(words []byte) {
	l.Level = words
	l.Logger = string(words[max(0, bytes.Index(words, []byte("http.log."))):])
	l.Time, _, _ = bytes.Cut(words, []byte("\t"))
}

// isAccess reports whether a line is an entry of the access log. A filter may have removed the
// logger's name.
func (l *jsonLine) isAccess() bool {
	if l.Logger == "" {
		return l.Request.Method != "" || l.Request.Host != "" || l.Request.URI != ""
	}
	return strings.HasPrefix(l.Logger, "http.log.access")
}

// countAccess counts an entry of the access log.
func (c *Counts) countAccess(l *jsonLine) error {
	r := &l.Request
	if r.Method != "" && !isCounted([]byte(r.Method)) {
		c.LeftOut.Methods++
		return nil
	}
	if r.URI == "" {
		return errors.New("the entry of the access log has no request.uri; a filter may have removed it")
	}
	return c.countURL(request{target: []byte(r.URI), host: []byte(r.Host), status: l.Status,
		time: parseTime(unquoted(l.Time)), n: 1})
}

// countObject counts the requests in an object with a URL.
func (c *Counts) countObject(l *jsonLine) error {
	r := request{target: []byte(cmp.Or(l.URL, l.URI, l.Path)), time: parseTime(unquoted(l.Time)), n: 1}
	if len(r.target) == 0 {
		return errors.New("it has no string url, uri or path, and no request")
	}
	for _, count := range [...]json.RawMessage{l.Hits, l.Requests, l.Count} {
		if count == nil {
			continue
		}
		var ok bool
		if r.n, ok = parseCount(unquoted(count)); !ok {
			return errors.New("the count is not a number: " + excerpt(unquoted(count)))
		}
	}
	return c.countURL(r)
}

// unquoted returns a JSON value without quotation marks.
func unquoted(value []byte) []byte { return bytes.Trim(value, `"`) }
