package resolver

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// warnOfTemplates warns of what templates do that their authors may not expect.
func (c *Compiler) warnOfTemplates() {
	patterns := pattern.NewIndex(pattern.Tied)
	for i, t := range c.templates.all() {
		c.opts.pauseAfter(i)
		c.rank = c.rankOfSource(t.source)
		_, parsed, _ := parseTemplateValue(t.rule.Value, t.names)
		c.warnOfRule(t.rule, parsed)
		c.warnOfTemplate(t)
		c.warnOfTie(patterns, t)
	}
}

// warnOfTemplate warns of what a template does that its author may not expect.
func (c *Compiler) warnOfTemplate(t *templateRule) {
	for slot, name := range t.names {
		if t.value.outcome == "" && !t.value.uses(slot) && !t.mayDrop(slot) {
			c.warn(WarnUnusedVariable, t.rule, "the destination does not use the variable "+name+"; "+
				"what it captures is dropped; write _"+name+" if that is meant")
		}
	}
	if name := t.reservedInQuery(); name != "" {
		c.warn(WarnReservedQuery, t.rule, "{+"+name+"} in the query lets values add parameters, "+
			"as it leaves & and = as they are; write {"+name+"}")
	}
}

// mayDrop reports whether a variable may be dropped: one whose name begins with "_", and one called
// splat at the key's end, which in a _redirects file is what "*" matches.
func (t *templateRule) mayDrop(slot int) bool {
	last := t.segments[len(t.segments)-1]
	isRest := t.names[slot] == "splat" && last.Slot == slot && last.Suffix == ""
	return isRest || strings.HasPrefix(t.names[slot], "_")
}

// warnOfTie warns of a template that matches a path of an earlier one which is as good.
func (c *Compiler) warnOfTie(patterns *pattern.Index, t *templateRule) {
	if patterns.IsSpent() {
		return
	}
	if n, path, tied := patterns.First(t.Pattern); tied {
		other := c.templates.ruleAt(n)
		c.warn(WarnAmbiguous, t.rule, "the path "+path+" matches the key "+
			quote(other.rule.Key)+" of "+placeOf(other.rule, other.rank)+", too, with nothing "+
			"to choose by; the rule answers whose key comes first in alphabetical order")
	}
	patterns.Add(t.Pattern, t.index)
}

// reservedInQuery returns a variable that stands in the query with its reserved characters, or "".
func (t *templateRule) reservedInQuery() string {
	for slot, name := range t.names {
		if hasPlace(t.value.query, byte(slot)|reservedPlace) {
			return name
		}
	}
	return ""
}
