package resolver

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// lookup finds the rule that a pathname matches best: one of the table, or a template. Where the
// work is spent, what it finds is not to be used.
func lookup(t *table, templates *templateIndex, p *splitPath, w *work) (
	found match, encoded []byte, template templateMatch,
) {
	if len(t.slots) > 0 {
		found, encoded = t.match(p.text)
	}
	if templates == nil {
		return found, encoded, template
	}
	var best templateFound
	if templates.search(p, w, &best); best.rule != nil && best.beats(found, t) {
		template = templates.match(best, p.text, p)
	}
	return found, encoded, template
}

// beats reports whether a template matches better than a literal key: it is longer, or takes more of the path.
func (m *templateFound) beats(found match, t *table) bool {
	if found.ref == 0 {
		return true
	}
	segments := strings.Count(t.key(found.ref), "/") + 1
	return m.segments > segments || m.segments == segments && m.leaves < leaves(found.remaining)
}

// leaves is how much a match leaves of a path: one slash at its end does not count, as exact keys take it.
func leaves(remaining string) int {
	if remaining == "/" {
		return 0
	}
	return len(remaining)
}

// appendByTemplate resolves a request as AppendDestination does, if a template matches it better
// than the rule of the table that was found. There is an error, too, if it takes too much to see
// that.
func (rs *Ruleset) appendByTemplate(dst []byte, found match, req *Request) (
	end []byte, result Result, ok bool,
) {
	var memory [8]segment
	path := req.Target.Pathname
	p := splitPath{text: path, segments: memory[:0]}
	w := work{left: requestWork}
	var best templateFound
	rs.templates.search(&p, &w, &best)
	switch {
	case w.isSpent():
		return dst, Result{}.failed(ErrTooManyRedirects), true
	case best.rule == nil || !best.beats(found, &rs.table):
		return dst, Result{}, false
	}
	m := rs.templates.match(best, path, &p)
	end, result = rs.appendTemplate(dst, &m, p.segments, req, &w)
	return end, result, true
}

// appendTemplate resolves a request that a template matches.
func (rs *Ruleset) appendTemplate(
	dst []byte, m *templateMatch, segments []segment, req *Request, w *work,
) ([]byte, Result) {
	number := len(rs.table.slots) + m.rule.number
	result := Result{Outcome: Redirect, Key: m.rule.rule.Key, Rule: number}
	r, err := rs.recordOf(m, req.Target.Pathname, segments, w)
	if err != nil {
		return dst, result.failed(err)
	}
	result.Hops, result.Status = int(r.hops), r.status
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
	if !m.rule.value.internal {
		h := rs.opts.lastTemplateHop(m, &rs.merger)
		return record{base: h.base, query: h.search, fragment: h.fragment, status: h.status}, h.err
	}
	walk := rs.walker(splitPath{text: path, segments: slices.Clone(known)}, *w)
	f, err := walk.followTemplate(m)
	*w = walk.work
	switch {
	case err != nil:
		return r, err
	case len(f.base)+len(f.appended)+len(m.remaining) > maxDestination:
		return r, ErrTooLong
	}
	r.hops, r.status = uint8(min(f.hops, MaxRedirects)), f.status(rs.opts.statusOf(m.rule.rule))
	rs.opts.destinationOf(&r, &f, &rs.merger)
	return r, nil
}

// lastTemplateHop is the hop to the URL that a template leads to for its captures.
func (o *options) lastTemplateHop(m *templateMatch, merger *weburl.Merger) hop {
	v := &m.rule.value
	h := hop{key: m.rule.rule.Key, status: o.statusOf(m.rule.rule), remaining: m.remaining}
	if v.isTooLong(m.captures) {
		h.err = ErrTooLong
		return h
	}
	path := v.pathOf(m.captures)
	if m.isUnsafe(path) {
		h.err = ErrUnsafePath
		return h
	}
	h.base, h.fragment = v.origin+path, v.fragmentOf(m.captures)
	if v.hasQuery {
		h.search = string(o.appendConstantQuery(nil, merger, v.queryOf(m.captures), ""))
	}
	return h
}

// isUnsafe is R14, for captures, too, and for the path that they make together with the text around them.
func (m *templateMatch) isUnsafe(path string) bool {
	var memory [128]byte
	if unsafePath(m.remaining, memory[:0]) || hasDotSegment(path) {
		return true
	}
	for i := range m.captures {
		if unsafePath(m.captures[i].text, memory[:0]) {
			return true
		}
	}
	return !m.rule.value.unsafeText && unsafePath(path, memory[:0])
}

// step is a step of 3.3, and where an internal redirect leads next.
type step struct {
	Match
	next internalValue
}

// stepOf returns the step that has been looked up for a pathname: the rule, and its value with
// captures in their places.
func (rs *Ruleset) stepOf(pathname string, l *lookedUp) step {
	m := Match{Pathname: pathname}
	if l.template.rule == nil {
		rule := rs.rule(l.literal.ref)
		m.Rule, m.Value, m.Remaining = rule, rule.Value, l.literal.remaining
		if !isInternal(rule.Value) {
			return step{Match: m}
		}
		return step{m, newInternalValue(rule.Value)}
	}
	t, captures := l.template.rule, l.template.captures
	next := t.value.internalValue(t.value.pathOf(captures), captures)
	m.Rule, m.Remaining = t.rule, l.template.remaining
	m.Value = t.value.origin + next.path + next.query + next.fragment
	for slot, name := range t.names {
		m.Captures = append(m.Captures, Capture{name, captures[slot].text})
	}
	return step{m, next}
}
