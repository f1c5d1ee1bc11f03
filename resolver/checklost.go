package resolver

import "slices"

// checkLost reports the queries and fragments in a chain that lose to earlier ones.
func (c *checker) checkLost(rule Rule) {
	value := newInternalValue(rule.Value)
	query, fragment := value.query != "", value.fragment != ""
	for later := c.laterParts(value.path); later != nil; later = later.next {
		if query && later.query != "" && rule.Query != QueryIgnore {
			c.find(SeverityWarning, FindLost, rule, later.query)
		}
		if fragment && later.fragment != "" {
			c.find(SeverityWarning, FindLost, rule, later.fragment)
		}
		query, fragment = query || later.query != "", fragment || later.fragment != ""
	}
}

// laterParts are query and fragment of a value along a chain, and what follows of such values. All
// chains that lead to a value share its parts, so that each value is looked at once:
//
//	rules    a -> c?x=1 -> d -> e?y=2#z      b -> d
//	parts    ?x=1 -> ?y=2#z                  ?y=2#z
//
// query and fragment are what to tell the authors of rules in front, whose own win. They are "" for
// what the value does not have.
type laterParts struct {
	query, fragment string
	next            *laterParts
}

// laterParts returns the parts of the values along the chain from a path on. That is the chain of a
// rule with a destination, so that it ends.
func (c *checker) laterParts(path string) *laterParts {
	steps, parts := c.laterSteps(path)
	for _, this := range slices.Backward(steps) {
		if parts = parts.behind(&this.step); this.entry != 0 {
			c.later[this.entry] = parts
		}
	}
	return parts
}

// laterStep is an internal redirect along a chain.
type laterStep struct {
	step
	entry ref // of the rule, 0 for a template, whose value depends on the path
}

// laterSteps takes the steps from a path on, up to a rule whose parts are known.
func (c *checker) laterSteps(path string) (steps []laterStep, known *laterParts) {
	s := c.ruleset.stepper(path)
	for {
		m := lookUp(s.table, s.templates, s.at)
		if m.isNone() {
			return steps, nil
		}
		entry := m.literal.ref
		if m.isTemplate() {
			entry = 0
		}
		if known, ok := c.later[entry]; ok {
			return steps, known
		}
		next := s.take(&m, &chainEnd{})
		if !next.internal || next.err != nil {
			return steps, nil
		}
		steps = append(steps, laterStep{next, entry})
	}
}

// behind returns the parts with those of a step's value in front.
func (p *laterParts) behind(first *step) *laterParts {
	if first.query == "" && first.fragment == "" {
		return p
	}
	parts := laterParts{next: p}
	key := " of the key " + quote(first.key) + " along the chain is not used, as an earlier value " +
		"has a "
	if first.query != "" {
		parts.query = "the query " + first.query + key + "query; write all of it there"
	}
	if first.fragment != "" {
		parts.fragment = "the fragment " + first.fragment + key + "fragment"
	}
	return &parts
}
