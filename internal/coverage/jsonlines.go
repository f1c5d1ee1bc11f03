package coverage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// jsonLines reads lines of JSON: entries of Caddy's access log, also in the console format, where
// other words stand in front of the object, and objects with a URL of their own.
type jsonLines struct {
	counts  *Counts
	scratch [3][]byte // unescaped texts of a line
}

// jsonLine is what counts of an object. Texts are as they are written, with escapes.
type jsonLine struct {
	hasRequest, isLog bool
	logger            []byte
	method, host, uri []byte // of the member request
	status            int
	time              []byte
	url, count        []byte // of the object itself
}

// read counts the request of a line.
func (j *jsonLines) read(line []byte) error {
	object, words := objectIn(line)
	if object == nil {
		return errors.New("not an object: " + excerpt(line))
	}
	l, ok := scanLine(object)
	if !ok {
		var raw json.RawMessage
		return fmt.Errorf("not a JSON object: %w", json.Unmarshal(object, &raw))
	}
	if words != nil {
		l.isLog, l.logger = true, words[max(0, bytes.Index(words, []byte("http.log."))):]
		l.time, _, _ = bytes.Cut(words, []byte("\t"))
	}
	return j.countObject(&l)
}

// countObject counts what a line says.
func (j *jsonLines) countObject(l *jsonLine) error {
	switch {
	case l.hasRequest && (l.logger == nil || bytes.HasPrefix(l.logger, []byte("http.log.access"))):
		return j.addAccess(l)
	case l.isLog:
		j.counts.LeftOut.Entries++
		return nil
	case l.url == nil:
		return errors.New("no member url, uri or path that is a string, and no request")
	}
	r := request{time: parseTime(l.time), n: 1}
	if l.count != nil {
		var ok bool
		if r.n, ok = parseCount(l.count); !ok {
			return errors.New("the count is not a number: " + excerpt(l.count))
		}
	}
	var ok bool
	if r.target, ok = j.text(0, l.url); !ok {
		return errWrongEscape
	}
	return j.counts.countURL(r)
}

var errWrongEscape = errors.New("not JSON: a string with a wrong escape")

// addAccess counts an entry of the access log.
func (j *jsonLines) addAccess(l *jsonLine) error {
	r := request{status: l.status, time: parseTime(l.time), n: 1}
	method, isMethod := j.text(0, l.method)
	if !isMethod {
		return errWrongEscape
	}
	if l.method != nil && !isCounted(method) {
		j.counts.LeftOut.Methods++
		return nil
	}
	if l.uri == nil {
		return errors.New("the entry of the access log has no request.uri; a filter has removed it")
	}
	var isTarget, isHost bool
	r.target, isTarget = j.text(1, l.uri)
	r.host, isHost = j.text(2, l.host)
	if !isTarget || !isHost {
		return errWrongEscape
	}
	return j.counts.countURL(r)
}

// text returns the text that is written in a string; i says where it may be kept.
func (j *jsonLines) text(i int, written []byte) (text []byte, ok bool) {
	if bytes.IndexByte(written, '\\') < 0 {
		return written, true
	}
	var s string
	if err := json.Unmarshal([]byte(`"`+string(written)+`"`), &s); err != nil {
		return nil, false
	}
	j.scratch[i] = append(j.scratch[i][:0], s...)
	return j.scratch[i], true
}

// objectIn returns the object of a line, or nil. In front of it there may be the words of the
// console format, each with a tab behind it.
func objectIn(line []byte) (object, words []byte) {
	if line[0] == '{' {
		return line, nil
	}
	if i := bytes.Index(line, []byte("\t{")); i >= 0 {
		return line[i+1:], line[:i]
	}
	return nil, nil
}
