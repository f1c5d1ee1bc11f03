package lint

import (
	"slices"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// checkLost reports the queries and fragments in a chain that lose to earlier ones.
func (c *checker) checkLost(rule resolver.Rule) {
	_, ownQuery, ownFragment := cutParts(rule.Value)
	query, fragment := ownQuery != "", ownFragment != ""
	for later := c.laterParts(pathOf(rule.Value)); later != nil; later = later.next {
		if query && later.query != "" && rule.Query != resolver.QueryIgnore {
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
	steps, numbers, parts := c.laterSteps(path)
	for i, this := range slices.Backward(steps) {
		if parts = parts.behind(&this); !resolver.IsTemplate(this.Rule.Key) { // whose value is not one
			c.later[numbers[i]] = parts
		}
	}
	return parts
}

// laterSteps takes the steps from a path on, up to a rule whose parts are known. It returns the
// numbers of their rules, too.
func (c *checker) laterSteps(path string) (
	steps []resolver.Step, numbers []int, known *laterParts,
) {
	for {
		step, number, ok := c.Match(path)
		if !ok {
			return steps, numbers, nil
		}
		if known, ok := c.later[number]; ok {
			return steps, numbers, known
		}
		if !isInternal(step.Value) {
			return steps, numbers, nil
		}
		steps, numbers = append(steps, step), append(numbers, number)
		path = pathOf(step.Value)
	}
}

// behind returns the parts with those of a step's value in front.
func (p *laterParts) behind(first *resolver.Step) *laterParts {
	_, query, fragment := cutParts(first.Value)
	if query == "" && fragment == "" {
		return p
	}
	parts := laterParts{next: p}
	key := " of the key " + quote(first.Rule.Key) + " along the chain is not used, as an earlier " +
		"value has a "
	if query != "" {
		parts.query = "the query " + query + key + "query; write all of it there"
	}
	if fragment != "" {
		parts.fragment = "the fragment " + fragment + key + "fragment"
	}
	return &parts
}
