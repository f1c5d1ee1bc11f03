package pattern

import (
	"hash/maphash"
	"strconv"
)

// Index finds keys that match a path of a given key and are in a [Relation] to it, without
// comparing all of them. Make it with [NewIndex].
//
// It sorts keys by form: the lengths of the texts around their expressions, and whether longer
// paths match. The forms of two keys decide which one precedes the other. They also decide which
// parts of the texts are equal if a path matches both:
//
//	blog-{x}/a      begins with "bl", and the second segment is "a"
//	bl{x}/{y}       begins with "bl", and the second segment is anything
//
// Each form has a table of these parts. There are few forms, however many keys there are.
type Index struct {
	relation Relation
	seed     maphash.Seed
	byName   map[string]*form
	groups   map[string][]*form
	// keys is how many keys have been looked up, work how many steps that has taken.
	keys, work int
}

// Relation is how found keys relate to the given one.
type Relation int

const (
	// Preceded keys come after the given one, or nothing decides their order. One of the two has
	// variables.
	Preceded Relation = iota
	// Tied keys match the whole of a path that the given one matches, too, and nothing decides their
	// order.
	Tied
)

// form is what some keys have in common except for their texts, and these keys.
type form struct {
	like   *Pattern // the first key of this form
	keys   []numbered
	tables map[string]*table
	// related are the forms in which keys of this form are looked up.
	related []relatedForm
}

// numbered is a key with the number that the caller gave it.
type numbered struct {
	*Pattern
	number int
}

// relatedForm is a form with the table in which keys are looked up.
type relatedForm struct {
	form  *form
	table *table
}

// table finds the keys of a form by the texts in some places of their segments.
type table struct {
	places []place
	last   map[uint64]int // the last key, counted from 1, by the hash of what it has
	before []int          // for each key the one in front that has the same, 0 for none
}

// place is a part of a segment in which two keys must have the same text: the whole segment, or so
// many bytes at its start and at its end.
type place struct {
	whole      bool
	start, end int
}

// NewIndex returns an empty index.
func NewIndex(relation Relation) *Index {
	return &Index{
		relation: relation,
		seed:     maphash.MakeSeed(),
		byName:   make(map[string]*form),
		groups:   make(map[string][]*form),
	}
}

// IsSpent reports whether the work is out of proportion to the number of keys. That takes hundreds
// of forms.
func (x *Index) IsSpent() bool {
	const anyNumber, eachKey = 1 << 20, 64
	return x.work > anyNumber+eachKey*x.keys
}

// Add adds a key with its number, which grows from key to key.
func (x *Index) Add(p *Pattern, number int) {
	if !p.IsTemplate() && (p.exact || p.isDeep()) {
		return // it precedes all keys with variables that overlap it
	}
	own := x.formOf(p)
	own.keys = append(own.keys, numbered{p, number})
}

// Each calls do with the number of each key in the relation to the given one, and with a path that
// matches both. It stops when do returns false. The given key itself is left out. A key may be
// missed if it has segments behind an expression that spans several.
func (x *Index) Each(p *Pattern, do func(number int, path string) bool) {
	x.keys++
	for _, related := range x.formOf(p).related {
		in := related.table
		x.fill(related)
		sum, ok := x.sumOf(p, in.places)
		if !ok {
			continue
		}
		for next := in.last[sum]; next > 0; next = in.before[next-1] {
			x.work++
			other := related.form.keys[next-1]
			path, both := p.overlap(other.Pattern, x.relation == Tied)
			if both && !do(other.number, path) {
				return
			}
		}
	}
}

// First returns the number of one of the keys that Each would pass to its function.
func (x *Index) First(p *Pattern) (number int, path string, ok bool) {
	x.Each(p, func(n int, common string) bool {
		number, path, ok = n, common, true
		return false
	})
	return number, path, ok
}

// fill adds the keys to a table that were added to its form since the table was last used.
func (x *Index) fill(related relatedForm) {
	in := related.table
	x.work++
	for n := len(in.before); n < len(related.form.keys); n++ {
		x.work++
		sum, ok := x.sumOf(related.form.keys[n].Pattern, in.places)
		in.before = append(in.before, 0)
		if ok {
			in.before[n], in.last[sum] = in.last[sum], n+1
		}
	}
}

// sumOf returns a hash of the texts that a key has in some places. It returns false if a segment is
// so short that its start and its end overlap.
func (x *Index) sumOf(p *Pattern, places []place) (sum uint64, ok bool) {
	var h maphash.Hash
	h.SetSeed(x.seed)
	for i, at := range places {
		start, end, ok := at.textsOf(&p.segments[i])
		if !ok {
			return 0, false
		}
		for _, text := range [...]string{start, "/", end, "/"} {
			h.WriteString(text) //nolint:errcheck // it never fails
		}
	}
	return h.Sum64(), true
}

// textsOf returns the texts that a segment has in a place.
func (at place) textsOf(s *Segment) (start, end string, ok bool) {
	switch {
	case at.whole:
		return s.Prefix, "", true
	case !s.IsLiteral():
		return s.Prefix[:at.start], s.Suffix[len(s.Suffix)-at.end:], true
	case len(s.Prefix) <= at.start+at.end:
		return "", "", false
	}
	return s.Prefix[:at.start], s.Prefix[len(s.Prefix)-at.end:], true
}

// formOf returns the form of a key. A new form is added.
func (x *Index) formOf(p *Pattern) *form {
	name := p.Form()
	if there := x.byName[name]; there != nil {
		return there
	}
	made := &form{like: p, tables: make(map[string]*table)}
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

// groupOf returns the group of a key's form, and the groups to compare it with.
func (x *Index) groupOf(p *Pattern) (own string, partners []string) {
	const plain, templates = "plain", "templates"
	switch {
	case x.relation == Tied:
		own = p.weights()
		return own, []string{own}
	case p.IsTemplate():
		return templates, []string{plain, templates}
	}
	return plain, []string{templates}
}

// relate decides whether keys of one form must be looked up in another.
func (x *Index) relate(made, other *form) {
	x.work += 8 // look-ups, about
	order := made.like.Compare(other.like)
	places, ok := made.like.placesIn(other.like, x.relation == Tied)
	if !ok {
		return
	}
	if order <= 0 || x.relation == Tied {
		made.lookUp(other, places)
	}
	if order >= 0 || x.relation == Tied {
		other.lookUp(made, places)
	}
}

// lookUp records that keys of a form are looked up in another one, by the texts in some places.
func (f *form) lookUp(other *form, places []place) {
	name := nameOf(places)
	if other.tables[name] == nil {
		other.tables[name] = &table{places: places, last: make(map[uint64]int)}
	}
	f.related = append(f.related, relatedForm{other, other.tables[name]})
}

func nameOf(places []place) string {
	name := make([]byte, 0, 8*len(places))
	for _, at := range places {
		if at.whole {
			name = append(name, '/')
		} else {
			name = appendLengths(name, at.start, at.end)
		}
	}
	return string(name)
}

// placesIn returns the places in which keys must have the same texts to match one path, and whether
// that is possible. For tied keys, segments after an expression that spans segments count, too.
func (p *Pattern) placesIn(other *Pattern, tied bool) (places []place, ok bool) {
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
func placeIn(a, b *Segment) place {
	switch {
	case a.IsLiteral() && b.IsLiteral():
		return place{whole: true}
	case a.IsLiteral():
		return place{start: len(b.Prefix), end: len(b.Suffix)}
	case b.IsLiteral():
		return place{start: len(a.Prefix), end: len(a.Suffix)}
	}
	return place{
		start: min(len(a.Prefix), len(b.Prefix)),
		end:   min(len(a.Suffix), len(b.Suffix)),
	}
}

// isDeep reports whether the key has more segments than any that has variables.
func (p *Pattern) isDeep() bool { return len(p.segments) > MaxSegments }

// Form returns a text that all keys of one form share. Deep keys are of one form.
func (p *Pattern) Form() string {
	name := strconv.AppendBool(nil, p.exact)
	for i := range min(len(p.segments), MaxSegments+1) {
		switch s := &p.segments[i]; {
		case i == p.span:
			name = append(name, '+')
		case s.IsLiteral():
			name = append(name, '/')
		default:
			name = appendLengths(name, len(s.Prefix), len(s.Suffix))
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

// weights returns a text that is equal for keys that can be tied.
func (p *Pattern) weights() string {
	var name []byte
	for i := range p.segments {
		name = strconv.AppendInt(name, int64(p.weight(i)), 10)
		name = append(name, '/')
	}
	return string(name)
}
