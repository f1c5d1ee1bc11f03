package rulefile

import (
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// jsonPlace is what an edit must know about an object of rules.
type jsonPlace struct {
	open, close int // of the object
	holes       []jsonHole
	last        memberSpan
	before      memberSpan // the member in front of the last
	// kept is the end of the last member that is not removed, 0 for none; keptHoles is the number of
	// holes before it.
	kept, keptHoles int
}

// jsonHole is a member that is replaced or removed.
type jsonHole struct {
	memberSpan
	rule *resolver.Rule // nil to remove it
	to   int            // where what stays begins
}

// planJSON reads the whole object.
func (p *Plan) planJSON(content io.Reader) (spot, error) {
	place := new(jsonPlace)
	j := jsonReader{tokens: newJSONScanner(content, p.source)}
	j.tokens.lends = true
	j.add = func(rule resolver.Rule) { place.pass(j.span, p.take(rule)) }
	err := j.read()
	place.open, place.close = j.open, j.close
	return place, err
}

// pass adds the next member and its change, or nil. A removed member is cut up to the next key.
func (p *jsonPlace) pass(member memberSpan, change *plannedChange) {
	if len(p.holes) > p.keptHoles {
		p.holes[len(p.holes)-1].to = member.key
	}
	if change != nil {
		p.holes = append(p.holes, jsonHole{member, change.Rule, member.end})
	}
	if change == nil || change.Rule != nil {
		p.kept, p.keptHoles = member.end, len(p.holes)
	}
	p.before, p.last = p.last, member
}

func (p *jsonPlace) check(rule resolver.Rule) error { return checkWritable(rule) }

func (p *jsonPlace) splices(
	changes []plannedChange, content io.ReaderAt,
) (splices []splice, err error) {
	encoder := newJSONEncoder()
	write := func(rule resolver.Rule, like memberSpan) string {
		name, colon := string(encoder.key(rule)), ": "
		if err == nil && like != (memberSpan{}) {
			colon, err = textBetween(content, like.keyEnd, like.value)
		}
		return name + colon + string(encoder.value(rule))
	}
	for _, hole := range p.holes[:p.keptHoles] {
		text := ""
		if hole.rule != nil {
			text = write(*hole.rule, hole.memberSpan)
		}
		splices = append(splices, splice{hole.key, hole.to, text})
	}
	var added []string
	for _, change := range changes {
		if !change.isFound {
			added = append(added, write(*change.Rule, p.last))
		}
	}
	end, errEnd := p.end(added, content)
	return append(splices, end), cmp.Or(err, errEnd)
}

// end adds members after the last one that stays. They replace the members that are removed there,
// and get the white space around the last one.
func (p *jsonPlace) end(added []string, content io.ReaderAt) (splice, error) {
	switch none := len(added) == 0; {
	case p.kept == 0 && none:
		return splice{p.open + 1, p.close, ""}, nil
	case p.kept == 0:
		return splice{p.open + 1, p.close, "\n\t" + strings.Join(added, ",\n\t") + "\n"}, nil
	}
	from, comma := p.open+1, ","
	if p.before != (memberSpan{}) {
		from, comma = p.before.end, "" // it stands there
	}
	gap, err := textBetween(content, from, p.last.key)
	end := splice{from: p.kept, to: p.last.end}
	if len(added) > 0 {
		end.text = comma + gap + strings.Join(added, comma+gap)
	}
	return end, err
}
