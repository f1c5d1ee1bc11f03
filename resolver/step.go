package resolver

import (
	"cmp"
	"math"
	"strings"

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
	// internal is set if the value is a path and not a URL. outcome is GoneValue or PassValue if it is
	// neither.
	internal bool
	outcome  string
	// base is origin and path of a URL. Query and fragment of a path are as written, and only set if
	// the chain uses them.
	base, query, fragment string
	// laterQuery is the query of a path if an earlier one is known.
	laterQuery *templateQuery
	queryMode  QueryMode // that the query of a URL is spelled in
	err        error     // why the captures lead nowhere
}

// match is the best match of a path: a rule of the table, a template, or nothing.
type match struct {
	literal  literalMatch
	encoded  []byte // the record of that rule
	template templateMatch
	effort   int // to find the template
}

func (m *match) isNone() bool     { return m.literal.ref == 0 && !m.isTemplate() }
func (m *match) isTemplate() bool { return m.template.rule > 0 }

// isSpent reports whether the search was given up because it took too much effort. Then the match
// must not be used.
func (m *match) isSpent() bool { return m.effort > maxEffort }

// lookUp finds the best match of a path.
func lookUp(t *table, templates *templateIndex, path string) (m match) {
	if t.slots.n > 0 {
		m.literal, m.encoded = t.match(path)
	}
	if templates != nil {
		m.template, m.effort, _ = templates.matchBetter(m.literal, t, path)
	}
	return m
}

// chainLimits are the limits of a chain (R9).
type chainLimits struct {
	hops int
	path int // length of a path that begins as a template does
	// effort is the limit of all searches for templates together.
	effort int
}

// MaxTemplateRedirects is the maximum number of internal redirects of a chain that begins with a
// template.
const MaxTemplateRedirects = 32

// templateLimits apply to chains that begin with a template. Each request follows them.
func (o *options) templateLimits() chainLimits {
	return chainLimits{min(o.maxRedirects, MaxTemplateRedirects), maxTemplatePath, maxEffort}
}

// literalLimits apply to all other chains, which are followed when rules are loaded.
func (o *options) literalLimits() chainLimits {
	return chainLimits{o.maxRedirects, math.MaxInt, math.MaxInt}
}

// stepper takes the steps of 3.3 from path to path, for chains through templates and for
// explanations. It finds rules with lookUp, as compiling and checking do. Serving a key without
// variables uses table.match alone.
type stepper struct {
	opts      *options
	table     *table
	templates *templateIndex
	merger    *weburl.Merger
	limits    chainLimits
	at        string // where it is
	matched   match  // of the last step
	// concerns receives each path; nil while serving requests.
	concerns *concerns
	// effort is what searches for templates took. made is the total length of the paths built.
	effort, made int
	// memory contains the path of the stepper, and spare is memory for the next one. places are the
	// places of captures in the path.
	memory, spare []byte
	places        []textRange
}

// stepper returns a stepper at a path.
func (c *compiled) stepper(at string, limits chainLimits) stepper {
	return stepper{
		opts: &c.opts, table: &c.table, templates: c.templates, merger: c.merger,
		limits: limits, at: at,
	}
}

// step takes the next step of a chain. It returns false if no rule matches. The error of a step
// says why it leads nowhere.
func (s *stepper) step(chain *chainEnd) (next step, ok bool) {
	if len(s.at) > s.limits.path && s.templates.isTooLong(s.at) {
		s.matched = match{}
		return step{err: ErrPathTooLong}, true
	}
	if s.concerns != nil {
		s.concerns.addPath(s.opts, s.at)
	}
	s.matched = lookUp(s.table, s.templates, s.at)
	s.effort += s.matched.effort
	switch {
	case s.matched.isSpent() || s.effort > s.limits.effort:
		s.matched = match{}
		return step{err: ErrTooManyRedirects}, true
	case s.matched.isNone():
		return step{}, false
	}
	return s.take(&s.matched, chain), true
}

// take takes the step of a match.
func (s *stepper) take(m *match, chain *chainEnd) step {
	if m.isTemplate() {
		return s.templateStep(&m.template, chain)
	}
	next, path := literalStep(s.opts, s.table, m, chain)
	if next.internal {
		s.at = path
		s.made += len(path)
	}
	return next
}

// literalStep returns the step of a rule of the table. If the rule is internal, the step leads to a
// path.
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

// templateStep returns the step of a template for its captures of the stepper's path.
func (s *stepper) templateStep(m *templateMatch, chain *chainEnd) step {
	v := &m.value
	switch {
	case v.outcome != "":
		return step{key: m.key, remaining: m.remaining, outcome: v.outcome}
	case !v.internal:
		return s.opts.lastTemplateStep(m, s.merger, chain.queryMode(s.opts))
	}
	next := step{
		key: m.key, status: m.status, mode: m.mode, remaining: m.remaining, internal: true,
	}
	switch {
	case v.isTooLong(m.captures):
		next.err = ErrTooLong
	case m.captureIsUnsafe() || !s.advance(v.base, m.captures):
		next.err = ErrUnsafePath
	}
	if next.err != nil {
		return next
	}
	if chain.fragment == "" {
		next.fragment = v.fragmentOf(m.captures)
	}
	switch {
	case v.query == "":
	case chain.query == "":
		next.query = "?" + v.queryOf(m.captures)
	case chain.queryMode(s.opts) == queryOwn && v.query != "?":
		next.laterQuery = &templateQuery{v.query, cloneAll(m.captures)}
	}
	return next
}

// cloneAll copies texts of a path whose memory is reused.
func cloneAll(texts []string) []string {
	clones := make([]string, len(texts))
	for i, text := range texts {
		clones[i] = strings.Clone(text)
	}
	return clones
}

// advance moves to a path with captures. It returns false, and does not move, if R14 refuses a
// segment with a capture.
func (s *stepper) advance(path string, captures []string) (isSafe bool) {
	made := s.spare[:0]
	made, s.places = appendPlaced(made, s.places[:0], path, captures)
	if s.spare = made; placesAreUnsafe(text(made), s.places) {
		return false
	}
	s.memory, s.spare = made, s.memory
	s.at = text(made)
	s.made += len(made)
	return true
}

// placesAreUnsafe applies R14 to the segments of a path that contain captures. The captures alone,
// in any encoding, are known to be safe.
func placesAreUnsafe(path string, places []textRange) bool {
	var memory [128]byte
	done := 0 // where the segments end that have been looked at
	for _, place := range places {
		if place.to <= done {
			continue
		}
		start := max(done, strings.LastIndexByte(path[:place.from], '/')+1)
		done = len(path)
		if slash := strings.IndexByte(path[place.to:], '/'); slash >= 0 {
			done = place.to + slash
		}
		segments := path[start:done]
		first, _ := cutBefore(segments, '/')
		last := segments[strings.LastIndexByte(segments, '/')+1:]
		if weburl.IsDotSegment(first) || weburl.IsDotSegment(last) {
			return true
		}
		isWhole := start == place.from && done == place.to
		if !isWhole && unsafePath(segments, memory[:0]) {
			return true
		}
	}
	return false
}

// lastTemplateStep returns the step of a template to a URL, for its captures, with a query in the
// spelling of a mode.
func (o *options) lastTemplateStep(
	m *templateMatch, merger *weburl.Merger, mode QueryMode,
) step {
	v := &m.value
	last := step{key: m.key, status: m.status, remaining: m.remaining, queryMode: mode}
	if v.isTooLong(m.captures) {
		last.err = ErrTooLong
		return last
	}
	var memory [8]textRange
	base, places := appendPlaced(make([]byte, 0, 128), memory[:0], v.base, m.captures)
	last.base = text(base)
	if m.captureIsUnsafe() || placesAreUnsafe(last.base, places) {
		last.err = ErrUnsafePath
		return last
	}
	last.fragment = v.fragmentOf(m.captures)
	if v.query != "" {
		last.query = string(mode.appendConstantQuery(nil, merger, v.queryOf(m.captures), ""))
	}
	return last
}

// captureIsUnsafe applies R14 to captures, and to the rest of the path.
func (m *templateMatch) captureIsUnsafe() bool {
	var memory [128]byte
	if unsafePath(m.remaining, memory[:0]) {
		return true
	}
	for _, captured := range m.captures {
		if unsafePath(captured, memory[:0]) {
			return true
		}
	}
	return false
}
