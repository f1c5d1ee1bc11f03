package resolver

import (
	"cmp"
	"strings"
)

// chainEnd is the result of a chain that begins with an internal redirect. After the first step the
// path is the rule's value and no longer depends on the request.
type chainEnd struct {
	state endState
	// hops are the internal redirects taken.
	hops int
	// base is the absolute destination without its query and fragment, or the last path, if no key
	// matches that.
	base string
	// appended is relativePathname without the request's part.
	appended string
	// search and destinationFragment are those of the absolute destination. query and fragment are the
	// first embedded ones, as written.
	search, query, fragment, destinationFragment string
	// lastQuery is the last embedded query that is not empty, without its "?". It is only valid if the
	// mode needs it.
	lastQuery string
	// laterQuery is a template's query that replaces lastQuery. It is only built at the end of the
	// chain, because the queries of all steps could be hundreds of times as long as the path.
	laterQuery *templateQuery
	// mode is the query mode of the first rule, searchMode the mode in which search is spelled.
	mode, searchMode QueryMode
	// anyMode is set if rules of any query mode may lead to the chain.
	anyMode bool
	// allPermanent and anyPreserving describe the statuses of all rules from here on.
	allPermanent, anyPreserving bool
	// cycle is the loop at the end of the chain. inCycle is set if the rule is part of it.
	cycle   *LoopError
	inCycle bool
	// refusal is the reason if the captures along the chain lead nowhere.
	refusal error
	// passed is set if a rule with the value pass ends the chain, so that it is unmatched.
	passed bool
}

type endState uint8

const (
	endUnknown endState = iota
	endBeingFound
	endAbsolute
	endUnmatched
	endGone
	endLoop
	endTooManyRedirects
	endRefused
)

// newChain returns a chain of one step, which is an internal redirect.
func newChain(first *step) chainEnd {
	e := chainEnd{state: endUnmatched, allPermanent: true}
	e.add(first)
	return e
}

// endAt ends a chain at a rule with the value gone or pass. The status of that rule does not count.
// Without such a rule, the chain does not change.
func (e *chainEnd) endAt(outcome string) {
	switch outcome {
	case GoneValue:
		e.state, e.base, e.appended = endGone, "", ""
	case PassValue:
		e.passed = true
	}
}

// add adds a step to the end of a chain, except for what the step appends.
func (e *chainEnd) add(next *step) {
	e.addStatus(next.status)
	if next.internal {
		if e.hops++; e.hops == 1 {
			e.mode = next.mode
		}
		e.query, e.fragment = cmp.Or(e.query, next.query), cmp.Or(e.fragment, next.fragment)
		e.addLastQuery(next)
		return
	}
	e.state = endAbsolute
	e.base, e.search, e.destinationFragment = next.base, next.query, next.fragment
	e.searchMode = next.queryMode
}

func (e *chainEnd) addLastQuery(next *step) {
	if next.laterQuery != nil {
		e.laterQuery = next.laterQuery
	} else if query := strings.TrimPrefix(next.query, "?"); query != "" {
		e.lastQuery, e.laterQuery = query, nil
	}
}

// templateQuery is the query of a template with its "?", and the captures.
type templateQuery struct {
	query    string
	captures []string
}

func (q *templateQuery) String() string {
	return string(appendFilled(nil, strings.TrimPrefix(q.query, "?"), q.captures))
}

// precede adds a step before a chain, except for what the step appends.
func (e *chainEnd) precede(first *step) {
	e.addStatus(first.status)
	e.hops++
	e.mode = first.mode
	e.query, e.fragment = cmp.Or(first.query, e.query), cmp.Or(first.fragment, e.fragment)
	e.lastQuery = cmp.Or(e.lastQuery, strings.TrimPrefix(first.query, "?"))
}

// queryMode returns the mode for which the chain's queries are kept. Queries that are kept as
// written serve all modes.
func (e *chainEnd) queryMode(o *options) QueryMode {
	if e.anyMode {
		return queryOwn
	}
	return o.queryOf(e.mode)
}

func (e *chainEnd) addStatus(status int) {
	e.allPermanent = e.allPermanent && isPermanent(status)
	e.anyPreserving = e.anyPreserving || isPreserving(status)
}

// failed reports whether requests get an error.
func (e *chainEnd) failed() bool { return e.state >= endLoop }

// err returns the error that requests get.
func (e *chainEnd) err() error {
	switch e.state {
	case endLoop:
		return e.cycle
	case endRefused:
		return e.refusal
	}
	return ErrTooManyRedirects
}

func isPermanent(status int) bool  { return status == 301 || status == 308 }
func isPreserving(status int) bool { return status == 307 || status == 308 }

// status combines the statuses along the chain of a rule.
func (e *chainEnd) status(own int) int {
	switch {
	case own == 303:
		return 303
	case e.allPermanent && e.anyPreserving:
		return 308
	case e.allPermanent:
		return 301
	case e.anyPreserving:
		return 307
	}
	return 302
}

// follow follows a chain from the stepper's path to its end.
func (s *stepper) follow(chain chainEnd) chainEnd {
	loop := loopFinder{at: strings.Clone(s.at)}
	var appended prepended
	for {
		switch {
		case chain.hops > s.limits.hops:
			return chainEnd{state: endTooManyRedirects}
		case appended.length() > maxDestination:
			return chainEnd{state: endRefused, refusal: ErrTooLong}
		}
		next, ok := s.step(&chain)
		switch {
		case next.err != nil:
			return chainEnd{state: endRefused, refusal: next.err}
		case !ok || next.outcome != "":
			chain.base, chain.appended = strings.Clone(s.at), appended.String()
			chain.endAt(next.outcome)
			return chain
		}
		appended.prepend(next.remaining)
		if chain.add(&next); !next.internal {
			chain.appended = appended.String()
			return chain
		}
		if cycle := loop.closes(next.key, s.at); cycle != nil {
			return chainEnd{state: endLoop, cycle: cycle}
		}
	}
}

// loopFinder detects loops with Brent's algorithm. It compares each path with an earlier one, which
// is replaced at each power of two.
type loopFinder struct {
	at    string
	limit int
	keys  []string // of the steps from there
}

// closes returns the loop if a step, by a key to a path, closes one.
func (l *loopFinder) closes(key, path string) *LoopError {
	if l.keys = append(l.keys, key); path == l.at {
		return &LoopError{Cycle: l.keys}
	}
	if len(l.keys) > l.limit {
		l.at, l.keys, l.limit = strings.Clone(path), l.keys[:0], 2*l.limit+1
	}
	return nil
}

// prepended is text to which text is added at the beginning.
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
