package resolver

import (
	"slices"
	"strings"
)

// matchBetter finds the template that a pathname matches better than what of the table it matches.
// The pathname is given apart from its segments, so that these need not outlive the call.
func (x *templateIndex) matchBetter(
	than literalMatch, t *table, pathname string, p *splitPath, w *work,
) (m templateMatch, ok bool) {
	var best templateFound
	if x.search(p, w, &best); best.rule == nil || !best.precedes(than, t) {
		return m, false
	}
	return x.match(best, pathname, p), true
}

// precedes reports whether a template matches better than a literal key: it is longer, or takes
// more of the path.
func (m *templateFound) precedes(found literalMatch, t *table) bool {
	if found.ref == 0 {
		return true
	}
	segments := strings.Count(t.key(found.ref), "/") + 1
	return m.segments > segments || m.segments == segments && m.leaves < leaves(found.remaining)
}

// leaves is how much a match leaves of a path. One slash at its end does not count, as exact keys
// take it.
func leaves(remaining string) int {
	if remaining == "/" {
		return 0
	}
	return len(remaining)
}

// appendByTemplate resolves a request as AppendDestination does, if a template matches it better.
// It compares it with the rule of the table that was found. There is an error, too, if it takes too
// much to see that.
func (rs *Ruleset) appendByTemplate(dst []byte, found literalMatch, req *Request) (
	end []byte, result Result, ok bool,
) {
	var memory [8]segment
	path := req.Target.Pathname
	p := splitPath{text: path, segments: memory[:0]}
	w := work{left: requestWork}
	m, ok := rs.templates.matchBetter(found, &rs.table, path, &p, &w)
	switch {
	case w.isSpent():
		return dst, Result{}.failed(ErrTooManyRedirects), true
	case !ok:
		return dst, Result{}, false
	}
	end, result = rs.appendTemplate(dst, &m, p.segments, req, &w)
	return end, result, true
}

// appendTemplate resolves a request that a template matches.
func (rs *Ruleset) appendTemplate(
	dst []byte, m *templateMatch, segments []segment, req *Request, w *work,
) ([]byte, Result) {
	number := rs.table.slots.n + m.rule.number
	result := Result{Outcome: Redirect, Key: m.rule.rule.Key, Rule: number}
	r, err := rs.recordOf(m, req.Target.Pathname, segments, w)
	if err != nil {
		return dst, result.failed(err)
	}
	result.Hops, result.Status = int(r.hops), r.status
	if r.flags.has(noDestination) {
		return dst, rs.resultWithout(&r, m.remaining, result)
	}
	end, fragment, err := rs.appendDestination(dst, &r, m.remaining, req)
	if err != nil {
		return dst, result.failed(err)
	}
	if isRequest(end[len(dst):fragment], end[fragment:], req) {
		return dst, Result{Key: result.Key, Rule: result.Rule, Hops: result.Hops}
	}
	return end, result
}

// recordOf returns the record that a template is for its captures of a path, of which some
// segments are known.
func (rs *Ruleset) recordOf(m *templateMatch, path string, known []segment, w *work) (
	r record, err error,
) {
	switch v := &m.rule.value; {
	case v.outcome != "":
		if r.setOutcome(v.outcome); v.outcome == GoneValue && m.isUnsafe("") {
			err = ErrUnsafePath
		}
		return r, err
	case !v.internal:
		last := rs.opts.lastTemplateStep(m, &rs.merger, rs.opts.queryOf(m.rule.rule.Query))
		return record{
			base: last.base, query: last.query, fragment: last.fragment, status: last.status,
			mode: m.rule.rule.Query,
		}, last.err
	}
	s := rs.stepper(splitPath{text: path, segments: slices.Clone(known)}, *w)
	end, err := s.followTemplate(m)
	*w = s.work
	switch {
	case err != nil:
		return r, err
	case len(end.base)+len(end.appended)+len(m.remaining) > maxDestination:
		return r, ErrTooLong
	}
	r.hops, r.mode = uint8(min(end.hops, MaxRedirects)), m.rule.rule.Query
	if end.state == endGone {
		r.setOutcome(GoneValue)
		return r, nil
	}
	r.status = end.status(rs.opts.statusOf(m.rule.rule))
	rs.opts.destinationOf(&r, &end, &rs.merger)
	return r, nil
}

// followTemplate follows the chain of a template with an internal destination, which matches where
// the stepper is.
func (s *stepper) followTemplate(m *templateMatch) (chainEnd, error) {
	first := s.take(&match{template: *m}, &chainEnd{})
	if first.err != nil {
		return chainEnd{}, first.err
	}
	end := s.follow(newChain(&first))
	if end.failed() {
		return end, end.err()
	}
	return end, nil
}
