package resolver

import "strings"

// addTemplate checks a rule whose key is a template, and adds it.
func (c *Compiler) addTemplate(rule Rule) {
	before := c.wrong
	t, parsed := c.parseTemplateRule(rule)
	if rule.Status != 0 && !ValidStatus(rule.Status) {
		c.fail(rule, ErrInvalidStatus, statusProblem(rule.Status))
	}
	if c.wrong > before {
		return
	}
	t.rule, t.source = rule, c.sources.number(source{rule.Position.Source, c.rank})
	if c.templates == nil {
		c.templates = &templateIndex{byKey: map[string]*templateRule{}, byShape: map[string]*[]*templateRule{}, foldCase: c.opts.foldCase}
	}
	there := c.templates.add(t)
	switch {
	case there == nil:
		t.number = len(c.templates.rules)
		c.templates.rules = append(c.templates.rules, t)
		c.templates.byKey[t.key] = t
		c.warnOfRule(rule, parsed)
		c.warnOfTemplate(t)
	case c.sources.all[there.source].rank == c.rank:
		c.failDuplicate(c.added.n, there.rule, rule)
	default:
		c.warnShadowed(rule, there.rule)
	}
}

// parseTemplateRule parses key and value of a rule, and reports what is wrong with them.
func (c *Compiler) parseTemplateRule(rule Rule) (t *templateRule, value parsedValue) {
	key, problem := c.opts.parseTemplateKey(rule.Key)
	if problem != "" {
		c.fail(rule, ErrInvalidKey, problem)
		if _, problem = parseValue(rule.Value); problem != "" {
			c.fail(rule, ErrInvalidValue, problem)
		}
		return nil, value
	}
	key.value, value, problem = parseTemplateValue(rule.Value, key.names)
	switch {
	case problem != "":
		c.fail(rule, ErrInvalidValue, problem)
	case !key.value.internal && !c.opts.hostAllowed(key.value.host):
		c.fail(rule, ErrHostNotAllowed, hostProblem(key.value.host))
	}
	return &key, value
}

// warnOfTemplate warns of what a template does that its author may not expect.
func (c *Compiler) warnOfTemplate(t *templateRule) {
	for slot, name := range t.names {
		if !t.value.uses(slot) {
			c.warn(WarnUnusedVariable, t.rule, "the destination does not use the variable "+name+"; what it captures is dropped")
		}
	}
	alike := c.templates.alike(t)
	for _, other := range *alike {
		if path, ok := bothMatch(other, t); ok {
			c.warn(WarnAmbiguous, t.rule, "the path /"+path+" matches the key "+quote(other.rule.Key)+" of "+other.rule.Position.String()+
				", too, with nothing to choose by; that rule, which stands first, answers")
		}
	}
	*alike = append(*alike, t)
}

// bothMatch returns a path that two templates match which are alike in what is literal and in how much of them is, if there is
// one: nothing tells which one matches better.
func bothMatch(a, b *templateRule) (path string, ok bool) {
	segments := make([]string, len(a.segments))
	for i := range a.segments {
		p, q := &a.segments[i], &b.segments[i]
		beginning, ok := common(p.prefix, q.prefix, true)
		end, okToo := common(p.suffix, q.suffix, false)
		if !ok || !okToo {
			return "", false
		}
		if segments[i] = beginning; !p.isLiteral() {
			segments[i] += "x" + end
		}
	}
	return strings.Join(segments, "/"), true
}

// common returns the longer of two texts if the other is its beginning, or its end.
func common(a, b string, beginning bool) (longer string, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	if beginning {
		return a, a[:len(b)] == b
	}
	return a, a[len(a)-len(b):] == b
}

// concrete returns the number of the internal rule that a template becomes for some captures: equal ones for equal values, so that loops are
// found.
func (c *Compiler) concrete(m *templateMatch) int {
	value := m.rule.value.text(m.captures)
	key := concreteRule{m.rule.number, value}
	if i, ok := c.concretes[key]; ok {
		return i
	}
	rule := m.rule.rule
	rule.Value = value
	c.table.internals = append(c.table.internals, internalRule{
		rule: rule, key: m.rule.key, value: m.rule.value.internalValue(m.captures), source: m.rule.source, slot: shadowed,
	})
	if c.concretes == nil {
		c.concretes = map[concreteRule]int{}
	}
	c.concretes[key] = len(c.table.internals) - 1
	return len(c.table.internals) - 1
}

// findTemplateFailures finds the templates whose chain does not arrive, whatever their variables stand for, as long as no other key takes
// it.
func (c *Compiler) findTemplateFailures() {
	for _, t := range c.templates.all() {
		if !t.value.internal {
			continue
		}
		captures := make([]string, len(t.names))
		for slot := range captures {
			captures[slot] = anySegment
		}
		i := c.concrete(&templateMatch{rule: t, captures: captures})
		if c.table.internals[i].fate.state == fateUnknown {
			c.followChain(nil, i)
		}
		f := &c.table.internals[i].fate
		if !f.failed() {
			continue
		}
		t.failure = f.err()
		kind, message := WarnTooManyRedirects, tooManyMessage(c.opts.maxRedirects)
		if loop, is := t.failure.(*LoopError); is {
			kind, message = WarnLoop, "loop "+loop.path()+" for every value that no other key takes: its requests are answered with an error; lead the rule elsewhere"
		}
		c.warn(kind, t.rule, message)
	}
}

// concreteRule is a template with captures in their places.
type concreteRule struct {
	number int
	value  string
}

// endAtTemplate ends a chain at the absolute destination of a template.
func (c *Compiler) endAtTemplate(f *fate, m *templateMatch) {
	v, captures := &m.rule.value, m.captures
	status := c.opts.statusOf(m.rule.rule)
	f.state = fateAbsolute
	f.base = v.origin + v.pathOf(captures)
	query := appendPieces(nil, v.query, captures)
	f.search = string(c.opts.appendConstantQuery(nil, &c.merger, string(query), ""))
	if v.hasFragment {
		f.destinationFragment = string(appendPieces([]byte("#"), v.fragment, captures))
	}
	f.allPermanent, f.anyPreserving = isPermanent(status), isPreserving(status)
}
