package uritemplate

import "fmt"

// Matcher finds the values with which a template expands to a URI. It is immutable and safe for
// concurrent use.
type Matcher struct {
	template *Template
	accepts  []byteSet // by part; empty for literals
	// pivot is the expression that matches the rest between the other parts; len(parts) for none.
	pivot int
	// greedy lets expressions match as much as they can if nothing else decides it.
	greedy bool
	// hasChoice is set if bind can miss the values of an expression, so that bindByChoice is
	// needed.
	hasChoice bool
}

// AmbiguityError is the reason why a template cannot be matched: an expression does not show where
// it ends.
type AmbiguityError struct {
	Template string
	// First and Second are the places, in bytes, of two expressions that accept the same
	// characters.
	First, Second int
	// Character is one of these.
	Character byte
}

// Error returns the reason.
func (e *AmbiguityError) Error() string {
	return fmt.Sprintf("template %q is ambiguous: the expressions at bytes %d and %d both accept %q; "+
		"put a character between them that one of them does not accept",
		e.Template, e.First+1, e.Second+1, e.Character)
}

// Matcher returns a matcher. The error is an [*AmbiguityError] if it is ambiguous where an
// expression begins or ends. Literals and the characters that operators emit decide that.
//
// From the left, an expression is clear if it accepts no character that can follow it. From the
// right, it is clear if it accepts no character that can precede it. One expression between them
// may be left, and matches the rest.
func (t *Template) Matcher() (*Matcher, error) {
	m := t.newMatcher()
	for i := m.pivot + 1; i < len(t.parts); i++ {
		if t.parts[i].Expression != nil && ends(t.parts[:i]).overlaps(m.accepts[i]) {
			return nil, t.ambiguity(m.pivot, i, m.accepts[i])
		}
	}
	return m, nil
}

// GreedyMatcher returns a matcher for any template. If several expressions accept a character, the
// first of them matches as much as it can. It stops at the first place of the next literal. The
// values are proved, too, but a match can be missed.
func (t *Template) GreedyMatcher() *Matcher {
	m, err := t.Matcher()
	if err != nil {
		m = t.newMatcher()
		m.pivot, m.greedy = len(t.parts), true
	}
	return m
}

func (t *Template) newMatcher() *Matcher {
	m := &Matcher{template: t, accepts: make([]byteSet, len(t.parts)), pivot: len(t.parts)}
	for i, part := range t.parts {
		if part.Expression == nil {
			continue
		}
		m.accepts[i] = part.Expression.bytes()
		m.hasChoice = m.hasChoice || len(part.Expression.Variables) > 1 ||
			part.Expression.Variables[0].Explode
		if m.pivot == len(t.parts) && starts(t.parts[i+1:]).overlaps(m.accepts[i]) {
			m.pivot = i
		}
	}
	return m
}

// ambiguity returns the error of two expressions, of which the second accepts some bytes.
func (t *Template) ambiguity(first, second int, accepts byteSet) error {
	e := &AmbiguityError{
		Template: t.source, First: t.parts[first].Offset, Second: t.parts[second].Offset,
	}
	others := t.parts[first].Expression.bytes()
	for _, c := range []byte("a.,-/?&;=#") {
		if accepts.has(c) && others.has(c) {
			e.Character = c
			break
		}
	}
	return e
}

// Match finds the values of a URI, by slot, and reuses the memory of values. All are raw. Expanding
// the template with them gives uri again, or ok is false. Variables of an expression get one value
// each, in their order, and the last one the rest.
func (m *Matcher) Match(uri string, values []Value) (found []Value, ok bool) {
	parts := m.template.parts
	if len(parts) > 0 && parts[0].Expression == nil && !hasPrefix(uri, parts[0].Literal) {
		return nil, false
	}
	if found, ok = m.matchBy(uri, values, (*Expression).bind); ok || !m.hasChoice {
		return found, ok
	}
	return m.matchBy(uri, values, (*Expression).bindByChoice)
}

// matchBy finds values with one of the two ways to bind an expression, and proves them.
func (m *Matcher) matchBy(
	uri string, values []Value, bind func(e *Expression, span string, found []Value) bool,
) (found []Value, ok bool) {
	found = values[:0]
	for range m.template.names {
		found = append(found, Value{})
	}
	if !m.bind(uri, found, bind) {
		return nil, false
	}
	var memory [256]byte
	expanded, err := m.template.AppendExpand(memory[:0], found)
	return found, err == nil && string(expanded) == uri
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// bind sets all variables to their parts of a URI. It reports whether the template can match.
func (m *Matcher) bind(
	uri string, found []Value, bind func(e *Expression, span string, found []Value) bool,
) bool {
	parts := m.template.parts
	start, end := 0, len(uri)
	for i := len(parts) - 1; i > m.pivot; i-- {
		from := m.startOf(i, uri[:end])
		if from < 0 || !m.bindPart(i, uri[from:end], found, bind) {
			return false
		}
		end = from
	}
	for i := range min(m.pivot+1, len(parts)) {
		length := m.lengthOf(i, uri[start:end])
		if length < 0 || !m.bindPart(i, uri[start:start+length], found, bind) {
			return false
		}
		start += length
	}
	return start == end
}

func (m *Matcher) bindPart(
	i int, span string, found []Value,
	bind func(e *Expression, span string, found []Value) bool,
) bool {
	e := m.template.parts[i].Expression
	return e == nil || span == "" || bind(e, span, found)
}

// lengthOf returns how much of the beginning of rest the i-th part matches, or -1.
func (m *Matcher) lengthOf(i int, rest string) int {
	part := &m.template.parts[i]
	switch {
	case part.Expression == nil:
		if hasPrefix(rest, part.Literal) {
			return len(part.Literal)
		}
		return -1
	case i == m.pivot:
		return len(rest)
	}
	if first := part.Expression.Operator.First(); first != 0 && (rest == "" || rest[0] != first) {
		return 0
	}
	n := 0
	for n < len(rest) && m.accepts[i].has(rest[n]) {
		n++
	}
	if m.greedy {
		return m.greedyLength(i, rest, n)
	}
	return n
}

// startOf returns the start of the i-th part, which ends at the end of s, or -1.
func (m *Matcher) startOf(i int, s string) int {
	part := &m.template.parts[i]
	if part.Expression == nil {
		start := len(s) - len(part.Literal)
		if start < 0 || s[start:] != part.Literal {
			return -1
		}
		return start
	}
	start := len(s)
	for start > 0 && m.accepts[i].has(s[start-1]) {
		start--
	}
	return start
}
