package lint

import (
	"github.com/caddy-shortlink/shortlink/resolver"
)

// lookAtPath checks whether a rule, which leads to a path of the site, redirects clients to another
// key (R18). What is below the path, and which keys are near to it, is looked up later for all
// rules together.
func (c *chainWarnings) lookAtPath(place int, this *internalRule) {
	path := c.endPath(this)
	isAnswered := false
	if this.isMatched {
		var next resolver.Step
		next, _, isAnswered = c.Match(path)
		if isAnswered && !resolver.IsTemplate(next.Rule.Key) && !isOutcome(next.Rule.Value) {
			c.warn(place, this, about(this.rule, WarnMeetsKey, meetsKeyMessage(path, next.Rule.Key)))
			return
		}
	}
	if !isAnswered {
		c.noteDeadEnd(this.number, path)
	}
	key := c.keyOfPath(path)
	if !this.isMatched {
		c.unanswered.add(key, this.number)
	}
	if this.rule.Exact {
		return
	}
	if c.waiting[key] == nil {
		c.waiting[key] = &keysBelow{}
	}
	c.waiting[key].ends = append(c.waiting[key].ends, place)
}

func meetsKeyMessage(path, key string) string {
	return "clients are redirected to " + path + ", and at or below " +
		"it the key " + quote(key) +
		" redirects them again, perhaps in a circle; lead the rule to where that key leads, or " +
		"mark it exact where nothing below it is meant"
}

// keysBelow are the first two keys below a path, in the order of [survey.compare], and the indexes
// of the rules whose chains end at the path.
type keysBelow struct {
	ends          []int
	first, second keyBelow
}

type keyBelow struct {
	key string // canonical, "" for none
	sourcedRule
}

// lookAtKeys compares all keys with the paths that rules lead to. numbers are those of the rules.
func (c *chainWarnings) lookAtKeys(numbers []int) {
	if len(c.waiting) == 0 && len(c.unanswered.paths) == 0 {
		return
	}
	for number, key := range c.Keys() {
		c.noteKey(number, key)
		c.unanswered.compare(c.survey, number, key)
	}
	for _, below := range c.waiting {
		for _, place := range below.ends {
			c.warnOfKeyBelow(place, numbers[place], below)
		}
	}
}

// warnOfKeyBelow warns of a rule whose end gets a remaining path, and of the first key there. The
// rule's own key does not count: it gets ever shorter paths, and so never makes a circle.
func (c *chainWarnings) warnOfKeyBelow(place, number int, below *keysBelow) {
	found := below.first
	if found.key == c.KeyOf(number) {
		found = below.second
	}
	if found.key == "" {
		return
	}
	this := c.internalRule(number)
	w := about(this.rule, WarnMeetsKey, meetsKeyMessage(c.endPath(this), found.rule.Key))
	c.warn(place, this, w)
}

// noteKey adds a key that redirects to the paths above it.
func (c *chainWarnings) noteKey(number int, key string) {
	var this keyBelow
	for i := 0; i < len(key); i++ {
		if i > 0 && key[i] != '/' {
			continue
		}
		below := c.waiting[key[:i]]
		if below == nil {
			continue
		}
		if this.key == "" {
			this = keyBelow{key, c.sourced(number)}
		}
		if isOutcome(this.rule.Value) {
			return // which redirects nobody
		}
		below.add(this, c.compare)
	}
}

// add adds a key, if it is one of the first two.
func (b *keysBelow) add(this keyBelow, compare func(a, b sourcedRule) int) {
	precedes := func(other keyBelow) bool {
		return other.key == "" || compare(this.sourcedRule, other.sourcedRule) < 0
	}
	switch {
	case precedes(b.first):
		b.first, b.second = this, b.first
	case precedes(b.second):
		b.second = this
	}
}
