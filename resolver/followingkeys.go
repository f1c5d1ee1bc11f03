package resolver

import (
	"slices"
	"strings"
)

// findFollowingKeys finds the rules whose internal destination ends unmatched, and from which
// clients that follow it are redirected again (R18). For the number of each it returns a key that
// does so.
func (c *Compiler) findFollowingKeys() map[int]ref {
	ends := c.unmatchedEnds()
	if len(ends) == 0 {
		return nil
	}
	following := map[int]ref{}
	for _, end := range ends {
		path := splitPath{text: end.path}
		next := lookUp(&c.table, c.templates, &path, unlimitedWork())
		if next.template.rule == nil && next.literal.ref != 0 &&
			c.table.outcomeOf(next.literal.ref) == "" {
			following[end.rule] = next.literal.ref
		}
	}
	c.findKeysBelow(ends, following)
	return following
}

// unmatchedEnd is where clients of a rule are redirected to.
type unmatchedEnd struct {
	rule int
	path string
}

func (c *Compiler) unmatchedEnds() []unmatchedEnd {
	var ends []unmatchedEnd
	for i := range c.table.internalRules {
		this := &c.table.internalRules[i]
		if this.slot != shadowed && this.end.state == endUnmatched {
			path := appendAtSeam([]byte(this.end.base), this.end.appended)
			ends = append(ends, unmatchedEnd{rule: i, path: string(path)})
		}
	}
	return ends
}

// findKeysBelow finds the first key below each end that a remaining path is appended to. The rule's
// own key does not count: it gets ever shorter paths, and so never makes a circle.
func (c *Compiler) findKeysBelow(ends []unmatchedEnd, following map[int]ref) {
	waiting := map[string][]int{}
	for _, end := range ends {
		if _, done := following[end.rule]; done || c.table.internalRules[end.rule].rule.Exact {
			continue
		}
		path := strings.TrimSuffix(string(c.opts.appendKey(nil, end.path[1:])), "/")
		waiting[path] = append(waiting[path], end.rule)
	}
	for n, rule := range c.added.all() {
		c.opts.pauseAfter(n)
		if len(waiting) == 0 {
			return
		}
		c.noteFollowing(rule.slot.ref(), waiting, following)
	}
}

// noteFollowing notes a key for the rules that wait at one of the paths above it.
func (c *Compiler) noteFollowing(at ref, waiting map[string][]int, following map[int]ref) {
	key := c.table.key(at)
	for i := 0; i < len(key); i++ {
		if i > 0 && key[i] != '/' {
			continue
		}
		rules, ok := waiting[key[:i]]
		if !ok {
			continue
		}
		if c.table.outcomeOf(at) != "" {
			return // which redirects nobody
		}
		rules = slices.DeleteFunc(rules, func(rule int) bool {
			if c.table.internalRules[rule].key == key {
				return false
			}
			following[rule] = at
			return true
		})
		if waiting[key[:i]] = rules; len(rules) == 0 {
			delete(waiting, key[:i])
		}
	}
}
