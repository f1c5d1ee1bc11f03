package rulefile

import (
	"bytes"
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// jsonPlace is what an edit has to know of an object of rules.
type jsonPlace struct {
	open, close int // of the object
	found       bool
	this        memberSpan  // with the key, if it is found
	before      *memberSpan // the member in front of this or, if it is not found, of the last
	after       *memberSpan // the member behind this
	last        *memberSpan
}

// inJSON finds out what an edit changes in an object of rules.
func (e *Edit) inJSON(content io.ReadSeeker, source string) ([]splice, error) {
	place, err := e.findInJSON(content, source)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Rule == nil && !place.found:
		return nil, ErrNoRule
	case e.Rule == nil:
		return []splice{place.removal()}, nil
	}
	if err := checkWritable(*e.Rule); err != nil {
		return nil, e.refuse(err)
	}
	name, value := memberOf(*e.Rule)
	switch {
	case place.found:
		this := place.this
		return []splice{{this.key, this.keyEnd, name}, {this.value, this.end, value}}, nil
	case place.last == nil:
		return []splice{{place.open + 1, place.close, "\n\t" + name + ": " + value + "\n"}}, nil
	}
	return place.addition(content, name, value)
}

// findInJSON reads the whole object.
func (e *Edit) findInJSON(content io.Reader, source string) (place jsonPlace, err error) {
	text, mark := withoutByteOrderMark(content)
	j := &jsonReader{tokens: newJSONScanner(text, source), dropped: mark, add: func(resolver.Rule) {}}
	j.seen = func(key string, at memberSpan) {
		switch {
		case !place.found && e.isOf(key):
			place.found, place.this, place.before = true, at, place.last
		case place.found && place.after == nil:
			place.after = &at
		case !place.found:
			place.before = place.last
		}
		place.last = &at
	}
	err = j.readAll()
	place.open, place.close = j.open, j.close
	return place, err
}

// removal takes a member out, with the comma that it does not need any more.
func (p *jsonPlace) removal() splice {
	switch {
	case p.after != nil:
		return splice{p.this.key, p.after.key, ""}
	case p.before != nil:
		return splice{p.before.end, p.this.end, ""}
	}
	return splice{p.open + 1, p.close, ""}
}

// addition puts a member behind the last one, with the same space around it.
func (p *jsonPlace) addition(content io.ReadSeeker, name, value string) ([]splice, error) {
	from, comma := p.open+1, ","
	if p.before != nil {
		from, comma = p.before.end, "" // it stands there
	}
	gap, err := textBetween(content, from, p.last.key)
	if err != nil {
		return nil, err
	}
	colon, err := textBetween(content, p.last.keyEnd, p.last.value)
	if err != nil {
		return nil, err
	}
	return []splice{{p.last.end, p.last.end, comma + gap + name + colon + value}}, nil
}

// JSONValue returns the value of a rule's member in an object of rules. It is a string, or an
// object where there is more to say than the destination.
func JSONValue(rule resolver.Rule) string {
	_, value := memberOf(rule)
	return value
}

// memberOf returns name and value of a rule's member.
func memberOf(rule resolver.Rule) (name, value string) {
	var b bytes.Buffer
	j := newJSONWriter(&b)
	j.encodeKey(rule)
	j.w.Flush() //nolint:errcheck // a buffer takes everything
	name = b.String()
	b.Reset()
	j.encodeValue(rule)
	j.w.Flush() //nolint:errcheck // as above
	return name, b.String()
}
