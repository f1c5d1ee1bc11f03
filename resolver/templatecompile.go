package resolver

import (
	"slices"
)

// addTemplate checks a rule whose key is a template, and adds it.
func (c *Compiler) addTemplate(rule Rule) {
	t, good := c.checkTemplate(rule)
	if !good {
		return
	}
	c.compiled += templateSize(rule)
	t.rule, t.source = rule, c.sources.number(source{rule.Position.Source, c.rank})
	c.addedTemplates = append(c.addedTemplates, addedTemplate{t, c.added.n})
}

// checkTemplate parses a rule, and reports everything that is wrong with it by itself.
func (c *Compiler) checkTemplate(rule Rule) (t *templateRule, good bool) {
	before := c.wrong
	t = c.parseTemplateRule(rule)
	c.checkStatus(rule)
	c.checkQueryMode(rule)
	c.checkNote(rule)
	return t, c.wrong == before
}

// addedTemplate is a template that has been checked by itself, with how many rules without variables
// were added before it.
type addedTemplate struct {
	*templateRule
	place int
}

// enterTemplates finds out which templates serve, in the order of [options.compareRules], and makes
// their index.
func (c *Compiler) enterTemplates() {
	c.templates = nil
	if len(c.addedTemplates) == 0 {
		return
	}
	c.dropTwins()
	slices.SortStableFunc(c.addedTemplates, func(a, b addedTemplate) int {
		return c.opts.compareRules(a.rule, c.rankOf(a.templateRule), b.rule, c.rankOf(b.templateRule))
	})
	c.templates = &templateIndex{byKey: map[string]*templateRule{}, foldCase: c.opts.foldCase}
	for _, t := range c.addedTemplates {
		c.enterTemplate(t, c.rankOf(t.templateRule))
	}
	c.addedTemplates = nil
	c.templates.build()
}

// dropTwins reports the templates whose key an earlier one of their source has, and drops them.
func (c *Compiler) dropTwins() {
	first := map[keyOfSource]Rule{}
	c.addedTemplates = slices.DeleteFunc(c.addedTemplates, func(t addedTemplate) bool {
		key := keyOfSource{c.rankOf(t.templateRule), t.Key()}
		twin, twice := first[key]
		if twice {
			c.failDuplicate(t.place, twin, t.rule)
		} else {
			first[key] = t.rule
		}
		return twice
	})
}

// enterTemplate lets a template serve, unless one of an earlier source has its key.
func (c *Compiler) enterTemplate(t addedTemplate, rank int) {
	if c.templates.byKey[t.Key()] != nil {
		c.keepShadowed(keyOfSource{rank, t.Key()}, t.rule)
		return
	}
	t.index = len(c.templates.rules)
	c.templates.rules = append(c.templates.rules, t.templateRule)
	c.templates.byKey[t.Key()] = t.templateRule
}

// templateSize is about what a compiled template takes, in bytes. It counts some for each part of
// it, and its text several times over.
func templateSize(rule Rule) int {
	return 1024 + 8*(len(rule.Key)+len(rule.Value)) + len(rule.Note)
}

// parseTemplateRule parses key and value of a rule, and reports what is wrong with them.
func (c *Compiler) parseTemplateRule(rule Rule) *templateRule {
	key, err := c.opts.parseTemplateKey(rule.Key)
	if err != nil {
		_, inValue := parseValue(rule.Value)
		c.failParts(rule, err, inValue)
		return nil
	}
	t := newTemplateRule(key, rule.Exact)
	t.value, err = parseTemplateValue(rule.Value, t.names)
	switch {
	case err != nil:
		c.failParts(rule, nil, err)
	case t.value.outcome == "" && !t.value.internal && !c.opts.hostAllowed(t.value.host):
		c.fail(rule, ErrHostNotAllowed, hostMessage(t.value.host))
	}
	return t
}

// rankOf returns the precedence of a template's source.
func (c *Compiler) rankOf(t *templateRule) int { return c.rankOfSource(t.source) }

// findTemplateFailures finds the templates whose chain does not arrive, whatever their variables
// stand for. Values that another key takes do not count.
func (c *Compiler) findTemplateFailures() {
	c.templateFailures = make([]error, len(c.templates.all()))
	for _, t := range c.templates.all() {
		if !t.value.internal {
			continue
		}
		captures := slices.Repeat([]capture{{text: AnySegment}}, len(t.names))
		first := step{
			status: c.opts.statusOf(t.rule), mode: t.rule.Query, internal: true,
		}
		end := c.follow(t.rule, t.value.pathOf(captures), newChain(&first), requestWork)
		if end.state == endUnmatched && c.opts.origin == "" {
			c.atSite.add(t.rule)
		}
		if !end.failed() {
			continue
		}
		c.templateFailures[t.index] = end.err()
	}
}
