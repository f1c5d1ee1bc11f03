package resolver

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
	"github.com/caddy-shortlink/shortlink/uritemplate"
)

// addTemplate checks a rule whose key is a template, and adds it.
func (c *Compiler) addTemplate(rule Rule) {
	t, parsed, good := c.check().checkTemplate(rule)
	if !good {
		return
	}
	c.extent.compiled += templateSize(rule)
	t.rule, t.source = rule, c.numberOfSource(rule)
	c.addedTemplates = append(c.addedTemplates, addedTemplate{t, parsed, c.added.n})
}

// addedTemplate is a template that has been checked by itself, with its value and with how many
// rules without variables were added before it.
type addedTemplate struct {
	*templateRule
	parsed parsedValue
	place  int
}

// enterTemplates finds out which templates serve, in the order of [options.compareRules], and makes
// their index.
func (c *Compiler) enterTemplates() {
	c.templates, c.warnings.groups[ofTemplates] = nil, nil
	if len(c.addedTemplates) == 0 {
		return
	}
	c.dropTwins()
	slices.SortStableFunc(c.addedTemplates, func(a, b addedTemplate) int {
		return c.opts.compareRules(a.rule, c.rankOf(a.templateRule), b.rule, c.rankOf(b.templateRule))
	})
	c.templates = &templateIndex{byKey: map[string]*templateRule{}, foldCase: c.opts.foldCase}
	c.patterns = pattern.NewIndex(pattern.Tied)
	c.warningGroup = ofTemplates
	for _, t := range c.addedTemplates {
		c.enterTemplate(t, c.rankOf(t.templateRule))
	}
	c.warningGroup = ofRules
	c.patterns, c.addedTemplates = nil, nil
	c.templates.build()
}

// dropTwins reports the templates whose key an earlier one of their source has, and drops them.
func (c *Compiler) dropTwins() {
	first := map[keyOfSource]Rule{}
	c.addedTemplates = slices.DeleteFunc(c.addedTemplates, func(t addedTemplate) bool {
		key := keyOfSource{c.rankOf(t.templateRule), t.Key()}
		twin, twice := first[key]
		if twice {
			c.errs.failDuplicate(t.place, twin, t.rule)
		} else {
			first[key] = t.rule
		}
		return twice
	})
}

// enterTemplate lets a template serve, unless one of an earlier source has its key.
func (c *Compiler) enterTemplate(t addedTemplate, rank int) {
	if there := c.templates.byKey[t.Key()]; there != nil {
		c.shadowed.keep(keyOfSource{rank, t.Key()}, t.rule)
		c.warnShadowed(t.rule, rank, there.rule, c.rankOf(there))
		return
	}
	t.index = len(c.templates.rules)
	c.templates.rules = append(c.templates.rules, t.templateRule)
	c.templates.byKey[t.Key()] = t.templateRule
	c.rank = rank
	c.warnOfRule(t.rule, t.parsed)
	c.warnOfTemplate(t.templateRule)
}

// templateSize is about what a compiled template takes, in bytes. It counts some for each part of
// it, and its text several times over.
func templateSize(rule Rule) int {
	return 1024 + 8*(len(rule.Key)+len(rule.Value)) + len(rule.Note)
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
	c.warnOfTie(t)
}

// mayDrop reports whether a variable may be dropped: one whose name begins with "_", and one called
// splat at the key's end, which in a _redirects file is what "*" matches.
func (t *templateRule) mayDrop(slot int) bool {
	last := t.segments[len(t.segments)-1]
	isRest := t.names[slot] == "splat" && last.Slot == slot && last.Suffix == ""
	return isRest || strings.HasPrefix(t.names[slot], "_")
}

// warnOfTie warns of a template that matches a path of an earlier one which is as good.
func (c *Compiler) warnOfTie(t *templateRule) {
	if c.patterns.IsSpent() {
		return
	}
	if n, path, tied := c.patterns.First(t.Pattern); tied {
		other := c.templates.rules[n]
		c.warn(WarnAmbiguous, t.rule, "the path "+path+" matches the key "+
			quote(other.rule.Key)+" of "+placeOf(other.rule, c.rankOf(other))+", too, with "+
			"nothing "+
			"to choose by; the rule answers whose key comes first in alphabetical order")
	}
	c.patterns.Add(t.Pattern, t.index)
}

// rankOf returns the precedence of a template's source.
func (c *Compiler) rankOf(t *templateRule) int { return c.rankOfSource(t.source) }

// reservedInQuery returns a variable that stands in the query with its reserved characters, or "".
func (t *templateRule) reservedInQuery() string {
	for _, piece := range t.value.query {
		if piece.slot >= 0 && piece.operator == uritemplate.Reserved {
			return t.names[piece.slot]
		}
	}
	return ""
}

// findTemplateFailures finds the templates whose chain does not arrive, whatever their variables
// stand for. Values that another key takes do not count.
func (c *Compiler) findTemplateFailures() {
	c.chains.atSite, c.warningGroup = siteEnds{}, ofChains
	c.chains.templateFailures = make([]error, len(c.templates.all()))
	for _, t := range c.templates.all() {
		if !t.value.internal {
			continue
		}
		captures := slices.Repeat([]capture{{text: anySegment}}, len(t.names))
		first := step{
			status: c.opts.statusOf(t.rule), mode: t.rule.Query, internal: true,
		}
		end := c.chainCompiler().follow(t.rule, t.value.pathOf(captures), newChain(&first), requestWork)
		if end.state == endUnmatched && c.opts.origin == "" {
			c.chains.atSite.add(t.rule)
		}
		if !end.failed() {
			continue
		}
		failure := end.err()
		c.chains.templateFailures[t.index] = failure
		kind, message := templateFailure(failure, c.opts.maxRedirects)
		c.warnAbout(t.rule, c.rankOf(t), Warning{Kind: kind, Message: message})
	}
}

// templateFailure says what becomes of a template whose chain does not arrive.
func templateFailure(failure error, maxRedirects int) (WarningKind, string) {
	if loop, is := failure.(*LoopError); is {
		return WarnLoop, "loop " + loop.path() + " for every value that no other key " +
			"takes: its requests are answered with an error; lead the rule elsewhere"
	}
	return WarnTooManyRedirects, "the chain never ends, or takes more than " +
		internalRedirects(maxRedirects) + ", for every value that no other key takes: " +
		"its requests are answered with an error; lead the rule elsewhere"
}
