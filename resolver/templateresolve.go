package resolver

// appendByTemplate resolves a request like AppendDestination, if a template matches it better than
// the rule that was found in the table. The result is an error if the path is too long for
// templates, or if the search takes too many steps.
func (rs *Ruleset) appendByTemplate(dst []byte, found literalMatch, req *Request) (
	end []byte, result Result, ok bool,
) {
	path := req.Target.Pathname
	if rs.templates.isTooLong(path) {
		return dst, Result{}.failed(ErrPathTooLong), true
	}
	m, effort, ok := rs.templates.matchBetter(found, &rs.table, path)
	switch {
	case effort > maxEffort:
		return dst, Result{}.failed(ErrTooManyRedirects), true
	case !ok:
		return dst, Result{}, false
	}
	end, result = rs.appendTemplate(dst, &m, effort, req)
	return end, result, true
}

// matchBetter finds the template that matches a pathname better than the rule of the table.
func (x *templateIndex) matchBetter(
	than literalMatch, t *table, pathname string,
) (m templateMatch, effort int, ok bool) {
	best, effort := x.search(pathname)
	if best.rule == 0 || !best.precedes(than, t) {
		return m, effort, false
	}
	return x.match(best, pathname), effort, true
}

// appendTemplate resolves a request that a template matches. effort is what finding it took.
func (rs *Ruleset) appendTemplate(
	dst []byte, m *templateMatch, effort int, req *Request,
) ([]byte, Result) {
	number := rs.table.slots.n + int(rs.templates.entries[m.rule-1].number)
	result := Result{Outcome: Redirect, Key: m.key, Rule: number}
	r, err := rs.recordOf(m, effort, req.Target.Pathname)
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

// recordOf returns the record of a template for its captures of a path.
func (c *compiled) recordOf(m *templateMatch, effort int, path string) (r record, err error) {
	switch v := &m.value; {
	case v.outcome != "":
		if r.setOutcome(v.outcome); v.outcome == GoneValue && m.captureIsUnsafe() {
			err = ErrUnsafePath
		}
		return r, err
	case !v.internal:
		last := c.opts.lastTemplateStep(m, c.merger, c.opts.queryOf(m.mode))
		return record{
			base: last.base, query: last.query, fragment: last.fragment, status: last.status,
			mode: m.mode,
		}, last.err
	}
	s := c.stepper(path, c.opts.templateLimits())
	s.effort = effort
	end, err := s.followTemplate(m)
	switch {
	case err != nil:
		return r, err
	case len(end.base)+len(end.appended)+len(m.remaining) > maxDestination:
		return r, ErrTooLong
	}
	r.hops, r.mode = uint8(min(end.hops, MaxRedirects)), m.mode
	if end.state == endGone {
		r.setOutcome(GoneValue)
		return r, nil
	}
	r.status = end.status(m.status)
	c.opts.destinationOf(&r, &end, c.merger)
	return r, nil
}

// followTemplate follows the chain of a template with an internal destination, which matches the
// stepper's path.
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
