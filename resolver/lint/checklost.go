package lint

import (
	"github.com/caddy-shortlink/shortlink/resolver"
)

// checkLost reports queries and fragments in a chain that are not used because of earlier ones.
func (c *checker) checkLost(rule resolver.Rule) {
	_, ownQuery, ownFragment := cutParts(rule.Value)
	query, fragment := ownQuery != "", ownFragment != ""
	for later := c.tailFrom(pathOf(rule.Value)); later != nil; later = later.next {
		if query && later.lostQuery != "" && rule.Query != resolver.QueryIgnore {
			c.find(SeverityWarning, FindLost, rule, later.lostQuery)
		}
		if fragment && later.lostFragment != "" {
			c.find(SeverityWarning, FindLost, rule, later.lostFragment)
		}
		query = query || later.lostQuery != ""
		fragment = fragment || later.lostFragment != ""
	}
}

// tail is the rest of a chain: its values with a query or a fragment. Chains that meet share their
// tail, so each value is examined once:
//
//	rules    a -> c?x=1 -> d -> e?y=2#z      b -> d
//	tail     ?x=1 -> ?y=2#z                  ?y=2#z
type tail struct {
	// What to tell the authors of earlier rules with a query or fragment. It is "" if the value has
	// none.
	lostQuery, lostFragment string
	next                    *tail
}

// tailFrom returns the rest of a chain from a path. The chain must have an end.
func (c *checker) tailFrom(path string) *tail {
	step, number, ok := c.Match(path)
	if !ok || !isInternal(step.Value) {
		return nil
	}
	if known, is := c.tails[number]; is {
		return known
	}
	t := c.tailFrom(pathOf(step.Value))
	_, query, fragment := cutParts(step.Value)
	if query != "" || fragment != "" {
		t = newTail(step.Rule.Key, query, fragment, t)
	}
	if !resolver.IsTemplate(step.Rule.Key) { // whose value differs from path to path
		c.tails[number] = t
	}
	return t
}

// newTail returns a tail that begins with the value of a key.
func newTail(key, query, fragment string, next *tail) *tail {
	t := &tail{next: next}
	of := " of the key " + quote(key) + " along the chain is not used, as an earlier value has a "
	if query != "" {
		t.lostQuery = "the query " + query + of + "query; write all of it there"
	}
	if fragment != "" {
		t.lostFragment = "the fragment " + fragment + of + "fragment"
	}
	return t
}
