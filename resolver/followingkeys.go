package resolver

import "strings"

// findFollowingKeys finds the rules whose internal destination ends unmatched, and from which
// clients that follow it are redirected again (R18). For the number of each it returns a rule that
// does so.
func (c *Compiler) findFollowingKeys() map[int]rankedRule {
	following := map[int]rankedRule{}
	waiting := map[string][]int{}
	for i, this := range c.internalInOrder() {
		if this.state != endUnmatched {
			continue
		}
		end := c.endOf(this)
		path := splitPath{text: end.base}
		if end.appended != "" {
			path.text = string(appendAtSeam([]byte(end.base), end.appended))
		}
		next := lookUp(&c.table, c.templates, &path, unlimitedWork())
		switch {
		case next.template.rule == nil && next.literal.ref != 0 &&
			c.table.outcomeOf(next.literal.ref) == "":
			following[i] = c.rankedAt(next.literal.ref)
		case !this.rule.Exact:
			path := strings.TrimSuffix(string(c.opts.appendKey(nil, path.text[1:])), "/")
			waiting[path] = append(waiting[path], i)
		}
	}
	c.findKeysBelow(waiting, following)
	return following
}

// findKeysBelow finds the first rule, in the order of [compareRules], below each end that a
// remaining path is appended to. The rule's own key does not count: it gets ever shorter paths, and
// so never makes a circle.
func (c *Compiler) findKeysBelow(waiting map[string][]int, following map[int]rankedRule) {
	if len(waiting) == 0 {
		return
	}
	for _, s := range c.table.entries(&c.opts) {
		c.noteFollowing(s.ref(), waiting, following)
	}
}

// noteFollowing notes a key for the rules that wait at one of the paths above it.
func (c *Compiler) noteFollowing(
	at ref, waiting map[string][]int, following map[int]rankedRule,
) {
	key := c.table.key(at)
	var this rankedRule
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
		if this.rule.Key == "" {
			this = c.rankedAt(at)
		}
		for _, rule := range rules {
			first, found := following[rule]
			isFirst := !found || compareRanked(this, first) < 0
			if isFirst && c.table.internalRules.at(rule).key != key {
				following[rule] = this
			}
		}
	}
}
