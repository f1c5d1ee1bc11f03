package rulefile

import (
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// jsonPlace is what an edit has to know of an object of rules.
type jsonPlace struct {
	open, close int // of the object
	found       bool
	this        memberSpan // with the key, if it is found
	before      memberSpan // the member in front of this or, if it is not found, of the last
	after       memberSpan // the member behind this
	last        memberSpan
}

// planJSON reads the whole object.
func (p *Plan) planJSON(content io.Reader) (spot, error) {
	place := new(jsonPlace)
	j := jsonReader{tokens: newJSONScanner(content, p.source)}
	j.tokens.lends = true
	j.add = func(rule resolver.Rule) { place.pass(j.span, p.take(rule)) }
	j.read()
	place.open, place.close = j.open, j.close
	return place, j.result()
}

// pass takes in the next member.
func (p *jsonPlace) pass(member memberSpan, isOfEdit bool) {
	switch {
	case !p.found && isOfEdit:
		p.found, p.this, p.before = true, member, p.last
	case p.found && p.after == memberSpan{}:
		p.after = member
	case !p.found:
		p.before = p.last
	}
	p.last = member
}

func (p *jsonPlace) check(rule resolver.Rule) error { return checkWritable(rule) }

func (p *jsonPlace) splices(e *Edit, content io.ReadSeeker) ([]splice, error) {
	if e.Rule == nil {
		return p.removal(), nil
	}
	encoder := newJSONEncoder()
	name := string(encoder.key(*e.Rule))
	value := string(encoder.value(*e.Rule))
	like := p.last
	if p.found {
		like = p.this
	} else if like == (memberSpan{}) {
		return []splice{{p.open + 1, p.close, "\n\t" + name + ": " + value + "\n"}}, nil
	}
	colon, err := textBetween(content, like.keyEnd, like.value)
	if p.found || err != nil {
		return []splice{{like.key, like.end, name + colon + value}}, err
	}
	// behind the last member, with the same space around it
	from, comma := p.open+1, ","
	if p.before != (memberSpan{}) {
		from, comma = p.before.end, "" // it stands there
	}
	gap, err := textBetween(content, from, like.key)
	return []splice{{like.end, like.end, comma + gap + name + colon + value}}, err
}

// removal takes the member out, with the comma that it does not need any more.
func (p *jsonPlace) removal() []splice {
	switch none := (memberSpan{}); {
	case !p.found:
		return nil
	case p.after != none:
		return []splice{{p.this.key, p.after.key, ""}}
	case p.before != none:
		return []splice{{p.before.end, p.this.end, ""}}
	}
	return []splice{{p.open + 1, p.close, ""}}
}
