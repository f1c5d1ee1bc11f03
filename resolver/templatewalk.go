package resolver

import (
	"cmp"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// walker takes the steps of 3.3 along a chain that a template is part of, which is known only when
// there is a path.
type walker struct {
	opts      *options
	table     *table
	templates *templateIndex
	merger    *weburl.Merger
	// literalHop is the hop that a rule of the table is. An internal one leads to next.
	literalHop func(found match, encoded []byte) (h hop, next internalValue)
	work       work
	at         splitPath // where the walk is
	hops       int       // taken to there
	// spare is the memory for where it is next, and memory that of the path where it is, if that lies
	// in any of the walk's.
	spare    expansion
	memory   []byte
	appended prepended
}

// hop is what a step of 3.3 finds: the rule that a path matches, and where it leads.
type hop struct {
	key       string // in the rule's spelling
	status    int    // the rule's own
	remaining string
	// internal tells that the rule leads to a path, and not to a URL: origin and path, query and
	// fragment. Those of a path are as written, and only of use where there are none yet.
	internal                      bool
	base, search, query, fragment string
	err                           error // why the captures lead nowhere
}

// walker returns a walker that is at a path.
func (rs *Ruleset) walker(at splitPath, w work) walker {
	return walker{
		opts: &rs.opts, table: &rs.table, templates: rs.templates, merger: &rs.merger,
		literalHop: rs.literalHop, work: w, at: at,
	}
}

// literalHop is the hop that a rule of the table is.
func (rs *Ruleset) literalHop(found match, encoded []byte) (h hop, next internalValue) {
	var r record
	r.decode(&rs.table.arena, encoded)
	rule := r.rule(rs.sources)
	h = hop{
		key: rule.Key, status: rs.opts.statusOf(rule), remaining: found.remaining,
		internal: isInternal(rule.Value),
	}
	if h.internal {
		next = newInternalValue(rule.Value)
	} else {
		h.base, h.search, h.fragment = r.base, r.query, r.fragment
	}
	return h, next
}

// followTemplate follows the chain of a template with an internal destination, which matches where
// the walk is.
func (w *walker) followTemplate(m *templateMatch) (fate, error) {
	h := w.take(&lookedUp{template: *m}, &fate{})
	if h.err != nil {
		return fate{}, h.err
	}
	f := w.follow(fate{query: h.query, fragment: h.fragment}, h.status)
	if f.failed() {
		return f, f.err()
	}
	return f, nil
}

// follow follows a chain from an internal redirect on that has led to where the walk is, whose rule
// has the status own. What it says of statuses is of all rules but that one's.
func (w *walker) follow(f fate, own int) fate {
	f.state, f.hops = fateUnmatched, 1
	f.allPermanent, f.anyPreserving = isPermanent(own), isPreserving(own)
	loop := loopFinder{at: strings.Clone(w.at.text)}
	for {
		switch {
		case f.hops > w.opts.maxRedirects || w.work.isSpent():
			return fate{state: fateTooManyRedirects}
		case w.appended.length() > maxDestination:
			return fate{state: fateRefused, refusal: ErrTooLong}
		}
		next := w.look()
		switch {
		case w.work.isSpent():
			return fate{state: fateTooManyRedirects}
		case next.isNone():
			f.base, f.appended = strings.Clone(w.at.text), w.appended.String()
			return f
		}
		h := w.take(&next, &f)
		switch {
		case w.work.isSpent():
			return fate{state: fateTooManyRedirects}
		case h.err != nil:
			return fate{state: fateRefused, refusal: h.err}
		}
		w.appended.prepend(h.remaining)
		f.allPermanent = f.allPermanent && isPermanent(h.status)
		f.anyPreserving = f.anyPreserving || isPreserving(h.status)
		if !h.internal {
			f.state, f.base, f.search, f.destinationFragment = fateAbsolute, h.base, h.search, h.fragment
			f.appended = w.appended.String()
			return f
		}
		f.hops++
		f.embed(&h)
		if cycle := loop.closes(h.key, w.at.text); cycle != nil {
			return fate{state: fateLoop, cycle: cycle}
		}
	}
}

// embed takes query and fragment of an internal redirect, of which the first ones count.
func (f *fate) embed(h *hop) {
	f.query, f.fragment = cmp.Or(f.query, h.query), cmp.Or(f.fragment, h.fragment)
}

// lookedUp is what a lookup finds: a rule of the table, a template, or nothing.
type lookedUp struct {
	literal  match
	encoded  []byte
	template templateMatch
}

func (l *lookedUp) isNone() bool { return l.literal.ref == 0 && l.template.rule == nil }

// look finds the rule that matches where the walk is.
func (w *walker) look() (l lookedUp) {
	if w.hops > 0 {
		w.work.isLong = len(w.at.text) > longPath
		w.work.do(w.table.lookupWork(w.at.text))
	}
	l.literal, l.encoded, l.template = lookup(w.table, w.templates, &w.at, &w.work)
	return l
}

// take takes the hop that the rule is which has been looked up. An internal redirect leads to where
// the walk is then.
func (w *walker) take(l *lookedUp, f *fate) hop {
	w.hops++
	if l.template.rule != nil {
		return w.templateHop(&l.template, f)
	}
	h, next := w.literalHop(l.literal, l.encoded)
	if h.internal {
		h.query, h.fragment = next.query, next.fragment
		w.at = splitPath{text: next.path, segments: w.at.segments[:0]}
		w.work.do(textWork(len(next.path)))
	}
	return h
}

// templateHop is the hop that a template is for its captures of the path where the walk is.
func (w *walker) templateHop(m *templateMatch, f *fate) hop {
	v := &m.rule.value
	if !v.internal {
		w.work.do(2 * pathWork(w.at.text))
		return w.opts.lastTemplateHop(m, w.merger)
	}
	h := hop{
		key: m.rule.rule.Key, status: w.opts.statusOf(m.rule.rule), remaining: m.remaining,
		internal: true,
	}
	if v.isTooLong(m.captures) {
		h.err = ErrTooLong
		return h
	}
	if w.isUnsafe(m) {
		h.err = ErrUnsafePath
		return h
	}
	if w.spare.expand(v, m.captures, &w.at, w.templates, &w.work); w.spare.unsafe {
		h.err = ErrUnsafePath
		return h
	}
	if f.query == "" && v.hasQuery {
		h.query = "?" + v.queryOf(m.captures)
	}
	if f.fragment == "" {
		h.fragment = v.fragmentOf(m.captures)
	}
	w.work.do(2 * textWork(len(h.query)+len(h.fragment)))
	w.advance()
	return h
}

// advance goes to the path that has been expanded.
func (w *walker) advance() {
	free := expansion{text: w.memory, segments: w.at.segments}
	w.memory = w.spare.text
	w.at = w.spare.path()
	w.spare = free
}

// isUnsafe is R14, for what is left of the path where the walk is, and for captures of it.
func (w *walker) isUnsafe(m *templateMatch) bool {
	var memory [128]byte
	w.work.do(pathWork(m.remaining))
	if unsafePath(m.remaining, memory[:0]) {
		return true
	}
	for i := range m.captures {
		if w.isUnsafeCapture(&m.captures[i]) {
			return true
		}
	}
	return false
}

// isUnsafeCapture is R14 for a capture of the path where the walk is. What it finds out of a part
// of a segment it keeps.
func (w *walker) isUnsafeCapture(c *capture) bool {
	var memory [128]byte
	switch {
	case !c.isPart && w.at.common != 0:
		c.count(&w.at)
		return w.at.factsOf(c.from, c.to, isSafe, &w.work)&isSafe == 0
	case c.isPart:
		if c.examine(&w.at, &w.work); c.facts&(isShallow|isSafe) != 0 {
			return false
		}
	}
	w.work.do(pathWork(c.text))
	return unsafePath(c.text, memory[:0])
}

// loopFinder finds out that a walk goes round, by Brent's algorithm: it compares each path with one
// that was met before, which is moved on at each power of two.
type loopFinder struct {
	at    string
	limit int
	keys  []string // of the hops from there
}

// closes returns the loop, if a hop by a key to a path ends one.
func (l *loopFinder) closes(key, path string) *LoopError {
	if l.keys = append(l.keys, key); path == l.at {
		return &LoopError{Cycle: l.keys}
	}
	if len(l.keys) > l.limit {
		l.at, l.keys, l.limit = strings.Clone(path), l.keys[:0], 2*l.limit+1
	}
	return nil
}

// prepended is text that grows at its beginning.
type prepended struct {
	memory []byte
	free   int // bytes of the memory in front of the text
}

func (p *prepended) prepend(s string) {
	if len(s) > p.free {
		grown := make([]byte, 2*len(p.memory)+len(s))
		free := len(grown) - p.length()
		copy(grown[free:], p.memory[p.free:])
		p.memory, p.free = grown, free
	}
	p.free -= len(s)
	copy(p.memory[p.free:], s)
}

func (p *prepended) length() int { return len(p.memory) - p.free }

// String returns the text.
func (p *prepended) String() string { return string(p.memory[p.free:]) }
