package resolver

import "strings"

// findFollowingKeys finds the new rules whose internal destination ends unmatched, and from which
// clients that follow it are redirected again (R18). For the number of each it returns a rule that
// does so.
func (c *Compiler) findFollowingKeys() map[int]rankedRule {
	following := map[int]rankedRule{}
	waiting := map[string]*keysBelow{}
	for i, this := range c.newInOrder() {
		if this.state != endUnmatched {
			continue
		}
		end := c.endOf(this)
		path := end.base
		if end.appended != "" {
			path = string(appendAtSeam([]byte(end.base), end.appended))
		}
		next := lookUp(&c.table, c.templates, path)
		switch {
		case !next.isTemplate() && next.literal.ref != 0 &&
			c.table.outcomeOf(next.literal.ref) == "":
			following[i] = c.rankedAt(next.literal.ref)
		case !this.rule.Exact:
			path := strings.TrimSuffix(string(c.opts.appendKey(nil, path[1:])), "/")
			if waiting[path] == nil {
				waiting[path] = new(keysBelow)
			}
			waiting[path].ends = append(waiting[path].ends, i)
		}
	}
	c.findKeysBelow(waiting, following)
	return following
}

// keysBelow are the first two keys below a path, in the order of [options.compareRules], and the
// rules whose chains end at the path.
type keysBelow struct {
	ends          []int
	first, second keyBelow
}

type keyBelow struct {
	key string // canonical, "" for none
	rankedRule
}

// findKeysBelow finds the first rule below each end that a remaining path is appended to. The
// rule's own key does not count: it gets ever shorter paths, and so never makes a circle.
func (c *Compiler) findKeysBelow(waiting map[string]*keysBelow, following map[int]rankedRule) {
	if len(waiting) == 0 {
		return
	}
	for _, s := range c.table.entries(&c.opts) {
		c.noteKey(s.ref(), waiting)
	}
	for _, below := range waiting {
		for _, rule := range below.ends {
			found := below.first
			if found.key == c.table.internalRules.at(rule).key {
				found = below.second
			}
			if found.key != "" {
				following[rule] = found.rankedRule
			}
		}
	}
}

// noteKey notes a key that redirects for the paths above it.
func (c *Compiler) noteKey(at ref, waiting map[string]*keysBelow) {
	key := c.table.key(at)
	var this keyBelow
	for i := 0; i < len(key); i++ {
		if i > 0 && key[i] != '/' {
			continue
		}
		below := waiting[key[:i]]
		if below == nil {
			continue
		}
		if c.table.outcomeOf(at) != "" {
			return // which redirects nobody
		}
		if this.key == "" {
			this = keyBelow{key, c.rankedAt(at)}
		}
		below.add(this, c.opts.compareRanked)
	}
}

// add adds a key, if it is one of the first two.
func (b *keysBelow) add(this keyBelow, compare func(a, b rankedRule) int) {
	precedes := func(other keyBelow) bool {
		return other.key == "" || compare(this.rankedRule, other.rankedRule) < 0
	}
	switch {
	case precedes(b.first):
		b.first, b.second = this, b.first
	case precedes(b.second):
		b.second = this
	}
}
