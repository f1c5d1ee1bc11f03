package resolver

// addTemplate checks a rule whose key is a template, and adds it.
func (c *Compiler) addTemplate(rule Rule) {
	before := c.wrong
	t, problem := c.parseTemplateRule(rule)
	for kind, message := range problem {
		c.fail(rule, kind, message)
	}
	if rule.Status != 0 && !ValidStatus(rule.Status) {
		c.fail(rule, ErrInvalidStatus, statusProblem(rule.Status))
	}
	if c.wrong > before {
		return
	}
	t.rule, t.source = rule, c.sources.number(source{rule.Position.Source, c.rank})
	if c.templates == nil {
		c.templates = &templateIndex{byKey: map[string]*templateRule{}, foldCase: c.opts.foldCase}
	}
	there := c.templates.add(t)
	switch {
	case there == nil:
		t.number = len(c.templates.rules)
		c.templates.rules = append(c.templates.rules, t)
		c.templates.byKey[t.key] = t
		c.warnOfTemplate(t)
	case c.sources.all[there.source].rank == c.rank:
		c.failDuplicate(c.added.n, there.rule, rule)
	default:
		c.warnShadowed(rule, there.rule)
	}
}

// parseTemplateRule parses key and value of a rule, or says what is wrong with them, by kind.
func (c *Compiler) parseTemplateRule(rule Rule) (t *templateRule, problems map[error]string) {
	problems = map[error]string{}
	if problem := templateKeyProblem(rule.Key); problem != "" {
		problems[ErrInvalidKey] = problem
		return nil, problems
	}
	key, problem := c.opts.parseTemplateKey(rule.Key)
	if problem != "" {
		problems[ErrInvalidKey] = problem
		return nil, problems
	}
	value, problem := parseTemplateValue(rule.Value, key.names)
	switch {
	case problem != "":
		problems[ErrInvalidValue] = problem
	case !value.internal && !c.opts.hostAllowed(value.host):
		problems[ErrHostNotAllowed] = hostProblem(value.host)
	}
	key.value = value
	return &key, problems
}

// warnOfTemplate warns of what a template does that its author may not expect.
func (c *Compiler) warnOfTemplate(t *templateRule) {
	for slot, name := range t.names {
		if !t.value.uses(slot) {
			c.warn(WarnUnusedVariable, t.rule, "the destination does not use the variable "+name+"; what it captures is dropped")
		}
	}
	for _, other := range c.templates.rules {
		if other == t {
			continue
		}
		if path, ok := bothMatch(other, t); ok {
			c.warn(WarnAmbiguous, t.rule, "the path /"+path+" matches the key "+quote(other.rule.Key)+" of "+other.rule.Position.String()+
				", too, with nothing to choose by; that rule, which stands first, answers")
		}
	}
}

// bothMatch returns a path that two templates match with the same rank, if there is one: their segments are alike in what is literal and in
// how much of them is, so that nothing tells which one matches better.
func bothMatch(a, b *templateRule) (path string, ok bool) {
	if len(a.segments) != len(b.segments) || a.span != b.span {
		return "", false
	}
	for i := range a.segments {
		p, q := &a.segments[i], &b.segments[i]
		if p.isLiteral() != q.isLiteral() || p.literalLength() != q.literalLength() {
			return "", false
		}
		segment, ok := common(p.prefix, q.prefix, true)
		if !ok || p.isLiteral() && p.prefix != q.prefix {
			return "", false
		}
		if !p.isLiteral() {
			end, ok := common(p.suffix, q.suffix, false)
			if !ok {
				return "", false
			}
			segment += "x" + end
		}
		if i > 0 {
			path += "/"
		}
		path += segment
	}
	return path, true
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
	f.base = v.origin + string(appendPieces(nil, v.path, captures))
	query := appendPieces(nil, v.query, captures)
	f.search = string(c.opts.appendConstantQuery(nil, &c.merger, string(query), ""))
	if v.hasFragment {
		f.destinationFragment = string(appendPieces([]byte("#"), v.fragment, captures))
	}
	f.allPermanent, f.anyPreserving = isPermanent(status), isPreserving(status)
}
