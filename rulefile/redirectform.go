package rulefile

import (
	"hash/maphash"
	"strconv"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// redirectForm is what keys of a _redirects file have in common but for their texts: how long those
// around their expressions are, and whether longer paths match. Two forms decide which of their
// keys precede the others, and which parts of the texts are equal if a path matches both:
//
//	blog-{x}/a      begins with "bl", and the second segment is "a"
//	bl{x}/{y}       begins with "bl", and the second segment is anything
//
// So a key is not compared with those of all earlier lines: these parts of it are looked up in a
// table for each form, of which there are few, however many lines a file has.
type redirectForm struct {
	like   redirectKey // the first key of this form
	keys   []placedKey // in the order of their lines
	tables map[string]*overlapTable
	// outdone are the forms whose keys those of this one precede, where a path can match both.
	outdone []outdoneForm
}

// placedKey is a key and where its line stands.
type placedKey struct {
	key redirectKey
	at  resolver.Position
}

// outdoneForm is a form with the table in which another one's keys are looked up.
type outdoneForm struct {
	form  *redirectForm
	table *overlapTable
}

// overlapTable finds the first key of a form by what it has in some places of its segments.
type overlapTable struct {
	places  []place
	filled  int // how many keys of the form it knows
	byTexts map[uint64]int
}

// place is what two keys have to have in common in a segment: all of it, or so many bytes at its
// start and at its end.
type place struct {
	whole      bool
	start, end int
}

// redirectIndex finds the rules that a rule outdoes for some paths.
type redirectIndex struct {
	seed   maphash.Seed
	byName map[string]*redirectForm
	// plain are the forms of keys without expressions, templates those of the others.
	plain, templates []*redirectForm
	// lines is how many keys have been looked up, work how many steps that has taken.
	lines, work int
}

func newRedirectIndex(seed maphash.Seed) redirectIndex {
	return redirectIndex{seed: seed, byName: make(map[string]*redirectForm)}
}

// tooMuch reports whether the work has got out of proportion to the number of lines, as only
// hundreds of forms make it.
func (x *redirectIndex) tooMuch() bool {
	const anyFile, eachLine = 1 << 20, 64
	return x.work > anyFile+eachLine*x.lines
}

// add takes in a rule. One for its own path alone precedes all templates that match it.
func (x *redirectIndex) add(k keyedRule) {
	if k.key.exact && !k.key.template {
		return
	}
	form := x.formOf(k.key)
	form.keys = append(form.keys, placedKey{k.key, k.rule.Position})
}

// firstOutdone returns the first key, by its line, that the given one precedes for a path that
// matches both.
func (x *redirectIndex) firstOutdone(key redirectKey) (first placedKey, ok bool) {
	x.lines++
	for _, other := range x.formOf(key).outdone {
		x.work += 1 + len(other.form.keys) - other.table.filled
		found, is := other.find(key, x.seed)
		if is && (!ok || found.at.Line < first.at.Line) {
			first, ok = found, true
		}
	}
	return first, ok
}

// formOf returns the form of a key, which it makes if there is none.
func (x *redirectIndex) formOf(key redirectKey) *redirectForm {
	name := key.formName()
	if there := x.byName[name]; there != nil {
		return there
	}
	made := &redirectForm{like: key, tables: make(map[string]*overlapTable)}
	x.byName[name] = made
	x.pair(made, x.templates)
	if !key.template {
		x.plain = append(x.plain, made)
		return made
	}
	x.pair(made, x.plain)
	x.templates = append(x.templates, made)
	return made
}

// pair finds out which of a new form and others outdo which.
func (x *redirectIndex) pair(made *redirectForm, others []*redirectForm) {
	const dear = 8 // as many look-ups
	x.work += dear * len(others)
	for _, other := range others {
		places, meet := made.like.placesIn(other.like)
		switch order := made.like.compare(other.like); {
		case !meet:
		case order < 0:
			made.outdo(other, places)
		case order > 0:
			other.outdo(made, places)
		}
	}
}

// outdo takes down that rules of the form outdo those of another that have the same in some places.
func (f *redirectForm) outdo(other *redirectForm, places []place) {
	name := nameOf(places)
	if other.tables[name] == nil {
		other.tables[name] = &overlapTable{places: places, byTexts: make(map[uint64]int)}
	}
	f.outdone = append(f.outdone, outdoneForm{other, other.tables[name]})
}

func nameOf(places []place) string {
	name := make([]byte, 0, 8*len(places))
	for _, p := range places {
		if p.whole {
			name = append(name, '/')
		} else {
			name = appendLengths(name, p.start, p.end)
		}
	}
	return string(name)
}

// find returns the first key of the form that overlaps the given one.
func (o outdoneForm) find(key redirectKey, seed maphash.Seed) (placedKey, bool) {
	t := o.table
	for ; t.filled < len(o.form.keys); t.filled++ {
		sum, ok := sumOf(o.form.keys[t.filled].key, t.places, seed)
		if _, there := t.byTexts[sum]; ok && !there {
			t.byTexts[sum] = t.filled
		}
	}
	sum, ok := sumOf(key, t.places, seed)
	i, there := t.byTexts[sum]
	if !ok || !there {
		return placedKey{}, false
	}
	_, both := key.overlap(o.form.keys[i].key)
	return o.form.keys[i], both
}

// sumOf returns a hash of what a key has in some places. It reports false where a segment is so
// short that those at its start and at its end overlap.
func sumOf(key redirectKey, places []place, seed maphash.Seed) (sum uint64, ok bool) {
	var h maphash.Hash
	h.SetSeed(seed)
	for i, p := range places {
		start, end, ok := p.in(key.segments[i])
		if !ok {
			return 0, false
		}
		h.WriteString(start) //nolint:errcheck // it never fails
		h.WriteByte('/')     //nolint:errcheck // as above
		h.WriteString(end)   //nolint:errcheck // as above
		h.WriteByte('/')     //nolint:errcheck // as above
	}
	return h.Sum64(), true
}

// in returns what a segment has in a place.
func (p place) in(segment string) (start, end string, ok bool) {
	switch {
	case p.whole:
		return segment, "", true
	case isPattern(segment):
		prefix, suffix := around(segment)
		return prefix[:p.start], suffix[len(suffix)-p.end:], true
	case len(segment) <= p.start+p.end:
		return "", "", false
	}
	return segment[:p.start], segment[len(segment)-p.end:], true
}

// placesIn returns what two keys have to have in common if a path is to match both, and whether one
// can at all.
func (k redirectKey) placesIn(other redirectKey) (places []place, meet bool) {
	a, b := k.segments, other.segments
	for len(a) > 0 && len(b) > 0 && !isSpan(a[0]) && !isSpan(b[0]) {
		places = append(places, placeIn(a[0], b[0]))
		a, b = a[1:], b[1:]
	}
	return places, meetAtEnd(a, b, !k.exact, !other.exact)
}

// placeIn is placesIn for two segments.
func placeIn(a, b string) place {
	if !isPattern(a) && !isPattern(b) {
		return place{whole: true}
	}
	if !isPattern(a) {
		a, b = b, a
	}
	prefix, suffix := around(a)
	p := place{start: len(prefix), end: len(suffix)}
	if isPattern(b) {
		prefix, suffix = around(b)
		p.start, p.end = min(p.start, len(prefix)), min(p.end, len(suffix))
	}
	return p
}

// formName returns a text that all keys of one form have.
func (k redirectKey) formName() string {
	name := strconv.AppendBool(nil, k.exact)
	for _, segment := range k.segments {
		switch {
		case isSpan(segment):
			name = append(name, '+')
		case isPattern(segment):
			prefix, suffix := around(segment)
			name = appendLengths(name, len(prefix), len(suffix))
		default:
			name = append(name, '/')
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
