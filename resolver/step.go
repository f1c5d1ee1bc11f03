package resolver

import (
	"cmp"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// step is one step of the resolution phase (3.3): the rule that a path matches, and where it leads.
//
//	path        /go/caddy/docs
//	rule        go/{x} -> /hub/{x}?tab=1    the best match (3.3.1)
//	value       /hub/caddy?tab=1            with captures in their places
//	remaining   /docs                       is appended once, at the end of the chain
//	next        /hub/caddy                  is where the stepper is then (3.3.2)
type step struct {
	key       string    // in the rule's spelling
	status    int       // the rule's own
	mode      QueryMode // its own query mode
	remaining string
	// internal tells that the value is a path, and not a URL; outcome is GoneValue or PassValue where
	// it is neither.
	internal bool
	outcome  string
	// base is origin and path of a URL. Query and fragment of a path are as written, and only there
	// where the chain has use for them.
	base, query, fragment string
	queryMode             QueryMode // that the query of a URL is spelled in
	err                   error     // why the captures lead nowhere
}

// match is what a path matches best: a rule of the table, a template, or nothing.
type match struct {
	literal  literalMatch
	encoded  []byte // the record of that rule
	template templateMatch
}

func (m *match) isNone() bool { return m.literal.ref == 0 && m.template.rule == nil }

// lookUp finds what a path matches best. Where the work is spent, the match is not to be used.
func lookUp(t *table, templates *templateIndex, p *splitPath, w *work) (m match) {
	if t.slots.n > 0 {
		m.literal, m.encoded = t.match(p.text)
	}
	if templates != nil {
		m.template, _ = templates.matchBetter(m.literal, t, p.text, p, w)
	}
	return m
}

// stepper takes the steps of 3.3 from one path to the next, with a budget of work. Compiling,
// serving, explaining and checking share it.
type stepper struct {
	opts      *options
	table     *table
	templates *templateIndex
	merger    *weburl.Merger
	work      work
	at        splitPath // where it is
	taken     int       // steps to there
	matched   match     // of the last step
	// spare is the memory for where it is next. memory is that of the path where it is, if that
	// lies in any of the stepper's.
	spare  expansion
	memory []byte
}

// stepper returns a stepper that is at a path.
func (rs *Ruleset) stepper(at splitPath, w work) stepper {
	return stepper{
		opts: &rs.opts, table: &rs.table, templates: rs.templates, merger: &rs.merger,
		work: w, at: at,
	}
}

// step takes the next step of a chain. It reports false where no rule matches, and where the work
// is spent before that is known.
func (s *stepper) step(chain *chainEnd) (next step, ok bool) {
	if s.taken > 0 {
		s.work.isLong = len(s.at.text) > longPath
		s.work.do(s.table.lookupWork(s.at.text))
	}
	s.matched = lookUp(s.table, s.templates, &s.at, &s.work)
	if s.work.isSpent() || s.matched.isNone() {
		return step{}, false
	}
	return s.take(&s.matched, chain), true
}

// take takes the step to where a match leads.
func (s *stepper) take(m *match, chain *chainEnd) step {
	s.taken++
	if m.template.rule != nil {
		return s.templateStep(&m.template, chain)
	}
	next, path := literalStep(s.opts, s.table, m, chain)
	if next.internal {
		s.at = splitPath{text: path, segments: s.at.segments[:0]}
		s.work.do(textWork(len(path)))
	}
	return next
}

// literalStep is the step that a rule of the table is, which leads to a path if it is internal.
func literalStep(o *options, t *table, m *match, chain *chainEnd) (next step, path string) {
	next.remaining = m.literal.remaining
	var value internalValue
	if m.literal.ref&internalRef != 0 { // the ruleset is not compiled yet
		this := t.internal(m.literal.ref)
		next.key, next.status, next.internal = this.rule.Key, o.statusOf(this.rule), true
		next.mode, value = this.rule.Query, this.value
	} else {
		var r record
		r.decode(&t.arena, m.encoded)
		next.key, next.status, next.mode = r.spelledKey(), cmp.Or(r.ownStatus, o.status), r.mode
		switch next.internal = isInternal(r.value); {
		case !next.internal && r.flags.has(noDestination):
			next.outcome = r.base
			return next, ""
		case !next.internal:
			next.base, next.query, next.fragment = r.base, r.query, r.fragment
			next.queryMode = o.queryOf(r.mode)
			if mode := chain.queryMode(o); mode != next.queryMode {
				next.query, next.queryMode = r.writtenQuery(), queryOwn
			}
			return next, ""
		}
		value = newInternalValue(r.value)
	}
	next.query, next.fragment = value.query, value.fragment
	return next, value.path
}

// templateStep is the step that a template is for its captures of the path where the stepper is.
func (s *stepper) templateStep(m *templateMatch, chain *chainEnd) step {
	v := &m.rule.value
	switch {
	case v.outcome != "":
		return step{key: m.rule.rule.Key, remaining: m.remaining, outcome: v.outcome}
	case !v.internal:
		s.work.do(2 * pathWork(s.at.text))
		return s.opts.lastTemplateStep(m, s.merger, chain.queryMode(s.opts))
	}
	next := step{
		key: m.rule.rule.Key, status: s.opts.statusOf(m.rule.rule), mode: m.rule.rule.Query,
		remaining: m.remaining, internal: true,
	}
	if v.isTooLong(m.captures) {
		next.err = ErrTooLong
		return next
	}
	if s.isUnsafe(m) {
		next.err = ErrUnsafePath
		return next
	}
	if s.spare.expand(v, m.captures, &s.at, s.templates, &s.work); s.spare.unsafe {
		next.err = ErrUnsafePath
		return next
	}
	if chain.fragment == "" {
		next.fragment = v.fragmentOf(m.captures)
	}
	s.work.do(2 * textWork(len(next.fragment)))
	switch {
	case !v.hasQuery:
	case chain.query == "":
		next.query = "?" + v.queryOf(m.captures)
		s.work.do(2 * textWork(len(next.query)))
	case chain.queryMode(s.opts) == queryOwn: // encoded only if it stays the last one
		next.query = "?" + string(appendPieces(nil, v.query, m.captures))
		s.work.do(textWork(len(next.query)))
	}
	s.advance()
	return next
}

// lastTemplateStep is the step to the URL that a template leads to for its captures, with a query
// in the spelling of a mode.
func (o *options) lastTemplateStep(
	m *templateMatch, merger *weburl.Merger, mode QueryMode,
) step {
	v := &m.rule.value
	last := step{
		key: m.rule.rule.Key, status: o.statusOf(m.rule.rule), remaining: m.remaining,
		queryMode: mode,
	}
	if v.isTooLong(m.captures) {
		last.err = ErrTooLong
		return last
	}
	path := v.pathOf(m.captures)
	if m.isUnsafe(path) {
		last.err = ErrUnsafePath
		return last
	}
	last.base, last.fragment = v.origin+path, v.fragmentOf(m.captures)
	if v.hasQuery {
		last.query = string(mode.appendConstantQuery(nil, merger, v.queryOf(m.captures), ""))
	}
	return last
}

// advance goes to the path that has been expanded.
func (s *stepper) advance() {
	free := expansion{text: s.memory, segments: s.at.segments}
	s.memory = s.spare.text
	s.at = s.spare.path()
	s.spare = free
}

// isUnsafe is R14, for what is left of the path where the stepper is, and for captures of it.
func (s *stepper) isUnsafe(m *templateMatch) bool {
	var memory [128]byte
	s.work.do(pathWork(m.remaining))
	if unsafePath(m.remaining, memory[:0]) {
		return true
	}
	for i := range m.captures {
		if s.isUnsafeCapture(&m.captures[i]) {
			return true
		}
	}
	return false
}

// isUnsafeCapture is R14 for a capture of the path where the stepper is. What it finds out of a
// part of a segment it keeps.
func (s *stepper) isUnsafeCapture(c *capture) bool {
	var memory [128]byte
	switch {
	case !c.isPart && s.at.common != 0:
		c.count(&s.at)
		return s.at.factsOf(c.from, c.to, isSafe, &s.work)&isSafe == 0
	case c.isPart:
		if c.examine(&s.at, &s.work); c.facts&(isShallow|isSafe) != 0 {
			return false
		}
	}
	s.work.do(pathWork(c.text))
	return unsafePath(c.text, memory[:0])
}

// isUnsafe is R14, for captures, too, and for the path that they make with the text around them.
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
