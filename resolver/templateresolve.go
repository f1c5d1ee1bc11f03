package resolver

import (
	"cmp"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// lookup finds the rule that a pathname matches best: one of the table, or a template.
func lookup(t *table, templates *templateIndex, pathname string) (found match, encoded []byte, template templateMatch) {
	if len(t.slots) > 0 {
		found, encoded = t.match(pathname)
	}
	if templates == nil {
		return found, encoded, template
	}
	template = templates.match(pathname)
	if template.rule != nil && !template.beats(found, t) {
		template.rule = nil
	}
	return found, encoded, template
}

// beats reports whether a template matches better than a literal key: it is longer, or takes more of the path.
func (m *templateMatch) beats(found match, t *table) bool {
	if found.ref == 0 {
		return true
	}
	segments := strings.Count(t.key(found.ref), "/") + 1
	return m.segments > segments || m.segments == segments && leaves(m.remaining) < leaves(found.remaining)
}

// leaves is how much a match leaves of a path: one slash at its end does not count, as exact keys take it.
func leaves(remaining string) int {
	if remaining == "/" {
		return 0
	}
	return len(remaining)
}

// appendTemplate resolves a request that a template matches, as AppendDestination does.
func (rs *Ruleset) appendTemplate(dst []byte, m *templateMatch, req *Request) ([]byte, Result) {
	result := Result{Outcome: Redirect, Key: m.rule.rule.Key, Rule: len(rs.table.slots) + m.rule.number}
	r, err := rs.recordOf(m)
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

// recordOf returns the record that a template is for its captures.
func (rs *Ruleset) recordOf(m *templateMatch) (r record, err error) {
	first := rs.opts.templateHop(m, &rs.merger)
	switch {
	case first.err != nil:
		return r, first.err
	case !first.internal:
		return record{base: first.base, query: first.search, fragment: first.fragment, status: first.status}, nil
	}
	f := rs.opts.follow(first.next, first.status, rs.nextHop)
	switch {
	case f.failed():
		return r, f.err()
	case len(f.base)+len(f.appended)+len(m.remaining) > maxDestination:
		return r, ErrTooLong
	}
	r.hops, r.status = uint8(min(f.hops, MaxRedirects)), f.status(first.status)
	rs.opts.destinationOf(&r, &f, &rs.merger)
	return r, nil
}

// hop is what a step of 3.3 finds: the rule that a path matches, and where it leads.
type hop struct {
	key       string // in the rule's spelling
	status    int    // the rule's own
	remaining string
	// internal tells that the rule leads to next; otherwise it leads to a URL: origin and path, query and fragment.
	internal               bool
	next                   internalValue
	base, search, fragment string
	err                    error // why the captures lead nowhere
}

// templateHop is the hop that a template is for its captures.
func (o *options) templateHop(m *templateMatch, merger *weburl.Merger) hop {
	v := &m.rule.value
	h := hop{key: m.rule.rule.Key, status: o.statusOf(m.rule.rule), remaining: m.remaining, internal: v.internal}
	if v.isTooLong(m.captures) {
		h.err = ErrTooLong
		return h
	}
	path := v.pathOf(m.captures)
	if m.isUnsafe(path) {
		h.err = ErrUnsafePath
		return h
	}
	if v.internal {
		h.next = v.internalValue(path, m.captures)
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
	for _, captured := range m.captures {
		if unsafePath(captured, memory[:0]) {
			return true
		}
	}
	return !m.rule.value.unsafeText && unsafePath(path, memory[:0])
}

// follow takes the steps of 3.3 from an internal redirect on, whose rule has the status own. What it says of statuses is of all rules but that
// one's.
func (o *options) follow(value internalValue, own int, step func(pathname string) (hop, bool)) fate {
	f := fate{state: fateUnmatched, hops: 1, base: value.path, query: value.query, fragment: value.fragment, allPermanent: isPermanent(own), anyPreserving: isPreserving(own)}
	loop := loopFinder{at: value.path}
	for {
		switch {
		case f.hops > o.maxRedirects:
			return fate{state: fateTooManyRedirects}
		case len(f.appended) > maxDestination:
			return fate{state: fateRefused, refusal: ErrTooLong}
		}
		h, ok := step(f.base)
		if !ok {
			return f
		}
		f.appended = h.remaining + f.appended
		f.allPermanent = f.allPermanent && isPermanent(h.status)
		f.anyPreserving = f.anyPreserving || isPreserving(h.status)
		switch {
		case h.err != nil:
			return fate{state: fateRefused, refusal: h.err}
		case !h.internal:
			f.state, f.base, f.search, f.destinationFragment = fateAbsolute, h.base, h.search, h.fragment
			return f
		}
		f.hops++
		f.base, f.query, f.fragment = h.next.path, cmp.Or(f.query, h.next.query), cmp.Or(f.fragment, h.next.fragment)
		if loop.closes(f.base) {
			return fate{state: fateLoop, cycle: loopFrom(f.base, step)}
		}
	}
}

// loopFinder finds out that a walk goes round, by Brent's algorithm: it compares each path with one that was met before, which is moved on at each power
// of two.
type loopFinder struct {
	at           string
	taken, limit int
}

func (l *loopFinder) closes(path string) bool {
	if path == l.at {
		return true
	}
	if l.taken++; l.taken > l.limit {
		l.at, l.taken, l.limit = path, 0, 2*l.limit+1
	}
	return false
}

// loopFrom returns the loop that a path is part of.
func loopFrom(path string, step func(pathname string) (hop, bool)) *LoopError {
	loop := &LoopError{}
	for at := path; ; {
		h, _ := step(at)
		loop.Cycle = append(loop.Cycle, h.key)
		if at = h.next.path; at == path {
			return loop
		}
	}
}

// nextHop takes a step of 3.3.
func (rs *Ruleset) nextHop(pathname string) (hop, bool) {
	found, encoded, template := lookup(&rs.table, rs.templates, pathname)
	switch {
	case template.rule != nil:
		return rs.opts.templateHop(&template, &rs.merger), true
	case found.ref == 0:
		return hop{}, false
	}
	var r record
	r.decode(&rs.table.arena, encoded)
	rule := r.rule(rs.sources)
	h := hop{key: rule.Key, status: rs.opts.statusOf(rule), remaining: found.remaining, internal: isInternal(rule.Value)}
	if h.internal {
		h.next, _ = parseInternal(rule.Value)
	} else {
		h.base, h.search, h.fragment = r.base, r.query, r.fragment
	}
	return h, true
}

// step is a step of 3.3, and where an internal redirect leads next.
type step struct {
	Match
	next internalValue
}

// step takes a step: it finds the rule that a pathname matches, and its value with captures in their places.
func (rs *Ruleset) step(pathname string) (step, bool) {
	found, _, template := lookup(&rs.table, rs.templates, pathname)
	switch {
	case template.rule != nil:
		v := &template.rule.value
		next := v.internalValue(v.pathOf(template.captures), template.captures)
		m := Match{Pathname: pathname, Rule: template.rule.rule, Value: v.origin + next.path + next.query + next.fragment, Remaining: template.remaining}
		for slot, name := range template.rule.names {
			m.Captures = append(m.Captures, Capture{name, template.captures[slot]})
		}
		return step{m, next}, true
	case found.ref != 0:
		rule := rs.rule(found.ref)
		s := step{Match: Match{Pathname: pathname, Rule: rule, Value: rule.Value, Remaining: found.remaining}}
		if isInternal(rule.Value) {
			s.next, _ = parseInternal(rule.Value)
		}
		return s, true
	}
	return step{}, false
}
