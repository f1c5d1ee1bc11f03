package uritemplate

import "fmt"

// Matcher finds the values that a template makes a URI of. It is immutable and safe for concurrent
// use.
type Matcher struct {
	template *Template
	takes    []byteSet // of each part that is an expression
	// pivot is the expression that takes what the parts around it leave; len(parts) for none.
	pivot int
	// greedy lets expressions take as much as they can where that is not settled otherwise.
	greedy bool
	// hasChoice is set where an expression can have values of which taking items one by one finds
	// none.
	hasChoice bool
}

// AmbiguityError is the reason why a template cannot be matched: an expression does not show where
// it ends.
type AmbiguityError struct {
	Template string
	// First and Second are the places, in bytes, of two expressions that could take the same
	// characters.
	First, Second int
	// Character is one that both could take.
	Character byte
}

// Error returns the reason.
func (e *AmbiguityError) Error() string {
	return fmt.Sprintf("template %q cannot be matched, as the expressions at bytes %d and %d could "+
		"share what is between them in more ways than one: both take %q; put a character between "+
		"them that one of them does not take", e.Template, e.First+1, e.Second+1, e.Character)
}

// Matcher returns a matcher. The error is an [*AmbiguityError] for a template of which the
// literals, and the characters that the operators emit, do not settle where each expression begins
// and ends.
//
// Expressions are settled from the left as long as none takes a character that can follow it, and
// from the right as long as none takes a character that can stand in front of it; the one that is
// left between them takes the rest.
func (t *Template) Matcher() (*Matcher, error) {
	m := t.newMatcher()
	for i := m.pivot + 1; i < len(t.parts); i++ {
		if t.parts[i].Expression != nil && ends(t.parts[:i]).overlaps(m.takes[i]) {
			return nil, t.ambiguity(m.pivot, i, m.takes[i])
		}
	}
	return m, nil
}

// GreedyMatcher returns a matcher that any template has. Where it is not settled which of several
// expressions takes a character, the first of them takes as much as it can, up to the first place
// where the literal behind it stands. What it finds is proved, too, but it can miss what there is
// to find.
func (t *Template) GreedyMatcher() *Matcher {
	m, err := t.Matcher()
	if err != nil {
		m = t.newMatcher()
		m.pivot, m.greedy = len(t.parts), true
	}
	return m
}

func (t *Template) newMatcher() *Matcher {
	m := &Matcher{template: t, takes: make([]byteSet, len(t.parts)), pivot: len(t.parts)}
	for i, part := range t.parts {
		if part.Expression == nil {
			continue
		}
		m.takes[i] = part.Expression.bytes()
		m.hasChoice = m.hasChoice || len(part.Expression.Variables) > 1 ||
			part.Expression.Variables[0].Explode
		if m.pivot == len(t.parts) && starts(t.parts[i+1:]).overlaps(m.takes[i]) {
			m.pivot = i
		}
	}
	return m
}

// ambiguity returns the error of two expressions, of which the second takes some bytes.
func (t *Template) ambiguity(first, second int, takes byteSet) error {
	e := &AmbiguityError{
		Template: t.source, First: t.parts[first].Offset, Second: t.parts[second].Offset,
	}
	others := t.parts[first].Expression.bytes()
	for _, c := range []byte("a.,-/?&;=#") {
		if takes.has(c) && others.has(c) {
			e.Character = c
			break
		}
	}
	return e
}

// Match finds the values of a URI, by slot, in the memory of values if they fit. All are raw.
// Expanding the template with them gives uri again, or ok is false. Variables of an expression take
// one value each, in their order, the last one what is left.
func (m *Matcher) Match(uri string, values []Value) (found []Value, ok bool) {
	parts := m.template.parts
	if len(parts) > 0 && parts[0].Expression == nil && !hasPrefix(uri, parts[0].Literal) {
		return nil, false
	}
	if found, ok = m.try(uri, values, (*Expression).bind); ok || !m.hasChoice {
		return found, ok
	}
	return m.try(uri, values, (*Expression).bindByChoice)
}

// try finds values in a way to bind an expression, and proves them.
func (m *Matcher) try(
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

// bind gives all variables their parts of a URI, as far as it can be the template's.
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

// lengthOf returns how much of rest, which begins with it, the i-th part takes, or -1.
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
	for n < len(rest) && m.takes[i].has(rest[n]) {
		n++
	}
	if m.greedy {
		return m.greedyLength(i, rest, n)
	}
	return n
}

// startOf returns where the i-th part, which ends s, begins in it, or -1.
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
	for start > 0 && m.takes[i].has(s[start-1]) {
		start--
	}
	return start
}
