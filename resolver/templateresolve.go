package resolver

import "strings"

// lookup finds the rule that a pathname matches best: one of the table, or a template.
func lookup(t *table, templates *templateIndex, pathname string) (found match, encoded []byte, template templateMatch) {
	if len(t.slots) > 0 {
		found, encoded = t.match(pathname)
	}
	if templates == nil {
		return found, encoded, template
	}
	template = templates.match(pathname)
	if template.rule != nil && !template.beats(found, pathname) {
		template.rule = nil
	}
	return found, encoded, template
}

// beats reports whether a template matches better than a literal key: it is longer, or takes more of the path.
func (m *templateMatch) beats(found match, pathname string) bool {
	if found.ref == 0 {
		return true
	}
	taken := strings.TrimSuffix(pathname[1:len(pathname)-len(found.remaining)], "/")
	segments := strings.Count(taken, "/") + 1
	return m.segments > segments || m.segments == segments && len(m.remaining) < len(found.remaining)
}

// appendTemplate resolves a request that a template matches, as AppendDestination does.
func (rs *Ruleset) appendTemplate(dst []byte, m *templateMatch, req *Request) ([]byte, Result) {
	result := Result{Outcome: Redirect, Key: m.rule.rule.Key, Rule: len(rs.table.slots) + m.rule.number}
	path := m.rule.value.pathOf(m.captures)
	if m.isUnsafe(path, dst) {
		return dst, result.failed(ErrUnsafePath)
	}
	r, err := rs.recordOf(m, path)
	if err != nil {
		return dst, result.failed(err)
	}
	result.Hops, result.Status = int(r.hops), r.status
	end, fragment, ok := rs.appendDestination(dst, &r, m.remaining, req)
	if !ok {
		return dst, result.failed(ErrNoOrigin)
	}
	if isRequest(end[len(dst):fragment], end[fragment:], req) {
		return dst, Result{Key: result.Key, Rule: result.Rule, Hops: result.Hops}
	}
	return end, result
}

// isUnsafe is R14, for captures, too, and for the path that they make together with the text around them.
func (m *templateMatch) isUnsafe(path string, scratch []byte) bool {
	if unsafePath(m.remaining, scratch) {
		return true
	}
	for _, captured := range m.captures {
		if unsafePath(captured, scratch) {
			return true
		}
	}
	return hasDotSegment(path) || unsafePath(path, scratch)
}

// recordOf returns the record that a template is for its captures, which make the path of its destination.
func (rs *Ruleset) recordOf(m *templateMatch, path string) (r record, err error) {
	v := &m.rule.value
	if v.internal {
		return rs.follow(m)
	}
	r.base, r.status = v.origin+path, rs.opts.statusOf(m.rule.rule)
	if v.hasQuery {
		query := appendPieces(nil, v.query, m.captures)
		r.query = string(rs.opts.appendConstantQuery(nil, &rs.merger, string(query), ""))
	}
	if v.hasFragment {
		r.fragment = string(appendPieces([]byte("#"), v.fragment, m.captures))
	}
	return r, nil
}

// follow takes the steps of 3.3 from the internal redirect of a template on. What is behind it is known for its captures
// alone.
func (rs *Ruleset) follow(m *templateMatch) (r record, err error) {
	own := rs.opts.statusOf(m.rule.rule)
	value := m.rule.value.internalValue(m.captures)
	f := fate{state: fateUnmatched, hops: 1, query: value.query, fragment: value.fragment, allPermanent: isPermanent(own), anyPreserving: isPreserving(own)}
	for f.state == fateUnmatched {
		if f.hops > rs.opts.maxRedirects {
			return r, ErrTooManyRedirects
		}
		if len(value.path) > maxDestination {
			return r, ErrTooManyRedirects
		}
		step, ok := rs.step(value.path)
		if !ok {
			f.base = value.path
			break
		}
		f.appended = step.Remaining + f.appended
		status := rs.opts.statusOf(step.Rule)
		f.allPermanent = f.allPermanent && isPermanent(status)
		f.anyPreserving = f.anyPreserving || isPreserving(status)
		if !isInternal(step.Value) {
			u, _ := parseAbsolute(step.Value)
			f.state, f.base, f.destinationFragment = fateAbsolute, u.Origin()+u.Path, u.Hash()
			f.search = string(rs.opts.appendConstantQuery(nil, &rs.merger, u.Query, ""))
			break
		}
		f.hops++
		if value = step.next; hasDotSegment(value.path) {
			return r, ErrUnsafePath
		}
		if f.query == "" {
			f.query = value.query
		}
		if f.fragment == "" {
			f.fragment = value.fragment
		}
	}
	r.hops = uint8(min(f.hops, MaxRedirects))
	rs.opts.destinationOf(&r, &f, &rs.merger)
	r.status = f.status(own)
	return r, nil
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
		m := Match{Pathname: pathname, Rule: template.rule.rule, Value: template.rule.value.text(template.captures), Remaining: template.remaining}
		for slot, name := range template.rule.names {
			m.Captures = append(m.Captures, Capture{name, template.captures[slot]})
		}
		return step{m, template.rule.value.internalValue(template.captures)}, true
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
