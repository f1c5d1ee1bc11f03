package resolver

import "iter"

// Destination is the end of the chain of a key's rule.
type Destination struct {
	// Key is in canonical form.
	Key string
	// Base is origin and path, or only the path if the origin is that of the request. It is empty for
	// a key with variables, because their values decide.
	Base string
	// Query is without its "?", and Fragment is with its "#".
	Query, Fragment string
	Exact, Unlisted bool
}

// Destinations yields the destinations of the serving rules with their numbers, in no particular
// order. Rules that are gone, pass or fail have none.
func (rs *Ruleset) Destinations() iter.Seq2[int, Destination] {
	return func(yield func(int, Destination) bool) {
		var r record
		for n, at := range rs.entries() {
			r.decodeAnswer(&rs.table.arena, rs.table.arena.bytes(at))
			if !r.flags.has(noDestination) && !yield(n, r.destination()) {
				return
			}
		}
		for i := range rs.templates.len() {
			rs.opts.pauseAfter(i)
			number := rs.table.slots.n + int(rs.templates.entries[i].number)
			if d, ok := rs.templates.destination(i); ok && !yield(number, d) {
				return
			}
		}
	}
}

// DestinationOf returns the destination of the rule with a number, if it has one.
func (rs *Ruleset) DestinationOf(number int) (d Destination, ok bool) {
	if number >= rs.table.slots.n {
		if i, is := rs.template(number); is {
			return rs.templates.destination(i)
		}
		return d, false
	}
	s := rs.table.slots.at(number)
	if !s.hasRule() {
		return d, false
	}
	var r record
	r.decodeAnswer(&rs.table.arena, rs.table.arena.bytes(s.ref()))
	return r.destination(), !r.flags.has(noDestination)
}

func (r *record) destination() Destination {
	return Destination{
		Key: r.key, Base: r.base, Query: r.query, Fragment: r.fragment,
		Exact: r.flags.has(exactKey), Unlisted: r.flags.has(unlisted),
	}
}

// destination returns the destination of the i-th template, if it has one.
func (x *templateIndex) destination(i int) (d Destination, ok bool) {
	flags := x.header(i).flags()
	d = Destination{Key: x.key(i), Exact: flags.has(exactKey), Unlisted: flags.has(unlisted)}
	return d, !flags.has(noDestination)
}

// PauseAfter calls [Options.Pause] now and then, for a caller that has visited n rules.
func (rs *Ruleset) PauseAfter(n int) { rs.opts.pauseAfter(n) }
