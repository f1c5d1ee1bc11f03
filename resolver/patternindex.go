package resolver

import (
	"hash/maphash"
	"strconv"
)

// PatternIndex finds keys that match a path of a given key and come after it in precedence, without
// comparing that with all of them. Make it with [NewPatternIndex].
//
// It sorts keys by form, which is all that they have in common but for their texts: how long those
// around their expressions are, and whether longer paths match. The forms of two keys decide which
// one precedes the other, and which parts of the texts are equal if a path matches both:
//
//	blog-{x}/a      begins with "bl", and the second segment is "a"
//	bl{x}/{y}       begins with "bl", and the second segment is anything
//
// These parts of a key are looked up in a table for each form, of which there are few, however many
// keys there are.
type PatternIndex struct {
	relation patternRelation
	seed     maphash.Seed
	byName   map[string]*patternForm
	groups   map[string][]*patternForm
	// keys is how many keys have been looked up, work how many steps that has taken.
	keys, work int
}

// patternRelation is what keys are looked up for.
type patternRelation int

const (
	isPreceded patternRelation = iota // one has variables, and does not precede the one looked up
	areTied                           // nothing tells which one precedes: any such key will do
)

// patternForm is a form, and the keys that have it.
type patternForm struct {
	like   *Pattern // the first key of this form
	keys   []numberedPattern
	tables map[string]*patternTable
	// related are the forms whose keys are looked up for one of this form.
	related []relatedForm
}

// numberedPattern is a key with the number that its owner gave it.
type numberedPattern struct {
	*Pattern
	number int
}

// relatedForm is a form with the table in which its keys are looked up.
type relatedForm struct {
	form  *patternForm
	table *patternTable
}

// patternTable finds the keys of a form by what they have in some places of their segments.
type patternTable struct {
	places []patternPlace
	last   map[uint64]int // the last key, counted from 1, by the hash of what it has
	before []int          // for each key the one in front that has the same, 0 for none
}

// patternPlace is what two keys have to have in common in a segment. That is all of it, or so many
// bytes at its start and at its end.
type patternPlace struct {
	whole      bool
	start, end int
}

// NewPatternIndex makes an empty index.
func NewPatternIndex() *PatternIndex { return newPatternIndex(isPreceded) }

func newPatternIndex(relation patternRelation) *PatternIndex {
	return &PatternIndex{
		relation: relation,
		seed:     maphash.MakeSeed(),
		byName:   make(map[string]*patternForm),
		groups:   make(map[string][]*patternForm),
	}
}

// IsSpent reports whether the work has got out of proportion to the number of keys. Only hundreds
// of forms make it.
func (x *PatternIndex) IsSpent() bool {
	const anyNumber, eachKey = 1 << 20, 64
	return x.work > anyNumber+eachKey*x.keys
}

// Add takes in a key with its number, which grows from key to key.
func (x *PatternIndex) Add(p *Pattern, number int) {
	if !p.IsTemplate() && (p.exact || p.isDeep()) {
		return // it precedes all keys with variables that overlap it
	}
	form := x.formOf(p)
	form.keys = append(form.keys, numberedPattern{p, number})
}

// Each calls do with the numbers of the keys that the given one precedes, or has nothing to precede
// by, and with a path that matches both, until do reports false. Two keys without variables are not
// compared. A key may be missed if it has segments behind an expression that spans several.
func (x *PatternIndex) Each(p *Pattern, do func(number int, path string) bool) {
	x.keys++
	for _, related := range x.formOf(p).related {
		table := related.table
		x.fill(related)
		sum, ok := x.sumOf(p, table.places)
		if !ok {
			continue
		}
		for next := table.last[sum]; next > 0; next = table.before[next-1] {
			x.work++
			other := related.form.keys[next-1]
			path, both := p.overlap(other.Pattern, x.relation == areTied)
			if both && !do(other.number, path) {
				return
			}
		}
	}
}

// First returns the number of one of the keys that Each passes to its function.
func (x *PatternIndex) First(p *Pattern) (number int, path string, ok bool) {
	x.Each(p, func(n int, common string) bool {
		number, path, ok = n, common, true
		return false
	})
	return number, path, ok
}

// fill takes the keys into a table that have been added since it was used last.
func (x *PatternIndex) fill(in relatedForm) {
	table := in.table
	x.work++
	for n := len(table.before); n < len(in.form.keys); n++ {
		x.work++
		sum, ok := x.sumOf(in.form.keys[n].Pattern, table.places)
		table.before = append(table.before, 0)
		if ok {
			table.before[n], table.last[sum] = table.last[sum], n+1
		}
	}
}

// sumOf returns a hash of what a key has in some places. It reports false where a segment is so
// short that those at its start and at its end overlap.
func (x *PatternIndex) sumOf(p *Pattern, places []patternPlace) (sum uint64, ok bool) {
	var h maphash.Hash
	h.SetSeed(x.seed)
	for i, place := range places {
		start, end, ok := place.textsOf(&p.segments[i])
		if !ok {
			return 0, false
		}
		for _, text := range [...]string{start, "/", end, "/"} {
			h.WriteString(text) //nolint:errcheck // it never fails
		}
	}
	return h.Sum64(), true
}

// textsOf returns what a segment has in a place.
func (place patternPlace) textsOf(s *segmentPattern) (start, end string, ok bool) {
	switch {
	case place.whole:
		return s.prefix, "", true
	case !s.isLiteral():
		return s.prefix[:place.start], s.suffix[len(s.suffix)-place.end:], true
	case len(s.prefix) <= place.start+place.end:
		return "", "", false
	}
	return s.prefix[:place.start], s.prefix[len(s.prefix)-place.end:], true
}

// formOf returns the form of a key, which it makes if there is none.
func (x *PatternIndex) formOf(p *Pattern) *patternForm {
	name := p.formName()
	if there := x.byName[name]; there != nil {
		return there
	}
	made := &patternForm{like: p, tables: make(map[string]*patternTable)}
	x.byName[name] = made
	own, partners := x.groupOf(p)
	for _, group := range partners {
		for _, other := range x.groups[group] {
			x.relate(made, other)
		}
	}
	x.groups[own] = append(x.groups[own], made)
	return made
}

// groupOf returns the group that a key's form belongs to, and those to compare it with.
func (x *PatternIndex) groupOf(p *Pattern) (own string, partners []string) {
	const plain, templates = "plain", "templates"
	switch {
	case x.relation == areTied:
		own = p.weights()
		return own, []string{own}
	case p.IsTemplate():
		return templates, []string{plain, templates}
	}
	return plain, []string{templates}
}

// relate finds out whether keys of one form have to be looked up for those of another.
func (x *PatternIndex) relate(made, other *patternForm) {
	const dear = 8 // as many look-ups
	x.work += dear
	order := made.like.Compare(other.like)
	places, ok := made.like.placesIn(other.like, x.relation == areTied)
	if !ok {
		return
	}
	if order <= 0 || x.relation == areTied {
		made.lookUp(other, places)
	}
	if order >= 0 || x.relation == areTied {
		other.lookUp(made, places)
	}
}

// lookUp takes down that keys of another form are looked up by what they have in some places.
func (f *patternForm) lookUp(other *patternForm, places []patternPlace) {
	name := nameOf(places)
	if other.tables[name] == nil {
		other.tables[name] = &patternTable{places: places, last: make(map[uint64]int)}
	}
	f.related = append(f.related, relatedForm{other, other.tables[name]})
}

func nameOf(places []patternPlace) string {
	name := make([]byte, 0, 8*len(places))
	for _, place := range places {
		if place.whole {
			name = append(name, '/')
		} else {
			name = appendLengths(name, place.start, place.end)
		}
	}
	return string(name)
}

// placesIn returns what keys that match one path have in common, and whether there can be one. Tied
// keys are alike also behind an expression that spans segments.
func (p *Pattern) placesIn(other *Pattern, tied bool) (places []patternPlace, ok bool) {
	a, b := p.rest(), other.rest()
	for a.hasOwn() && b.hasOwn() || tied && len(a.segments) > 0 {
		places = append(places, placeIn(&a.segments[0], &b.segments[0]))
		a, b = a.behindFirst(), b.behindFirst()
	}
	switch {
	case len(a.segments) == 0:
		return places, !a.exact || len(b.segments) == 0
	case len(b.segments) == 0:
		return places, !b.exact
	}
	return places, true
}

// placeIn is placesIn for two segments.
func placeIn(a, b *segmentPattern) patternPlace {
	switch {
	case a.isLiteral() && b.isLiteral():
		return patternPlace{whole: true}
	case a.isLiteral():
		return patternPlace{start: len(b.prefix), end: len(b.suffix)}
	case b.isLiteral():
		return patternPlace{start: len(a.prefix), end: len(a.suffix)}
	}
	return patternPlace{
		start: min(len(a.prefix), len(b.prefix)),
		end:   min(len(a.suffix), len(b.suffix)),
	}
}

// isDeep reports whether the key has more segments than any that has variables.
func (p *Pattern) isDeep() bool { return len(p.segments) > maxSegments }

// formName returns a text that all keys of one form have. Deep keys are of one form.
func (p *Pattern) formName() string {
	name := strconv.AppendBool(nil, p.exact)
	for i := range min(len(p.segments), maxSegments+1) {
		switch s := &p.segments[i]; {
		case i == p.span:
			name = append(name, '+')
		case s.isLiteral():
			name = append(name, '/')
		default:
			name = appendLengths(name, len(s.prefix), len(s.suffix))
		}
	}
	return string(name)
}

func appendLengths(name []byte, start, end int) []byte {
	name = strconv.AppendInt(name, int64(start), 10)
	name = append(name, '-')
	name = strconv.AppendInt(name, int64(end), 10)
	return append(name, '/')
}

// weights returns a text that all keys have with which the key is tied.
func (p *Pattern) weights() string {
	var name []byte
	for i := range p.segments {
		name = strconv.AppendInt(name, int64(p.weight(i)), 10)
		name = append(name, '/')
	}
	return string(name)
}
