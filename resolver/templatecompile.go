package resolver

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/uritemplate"
)

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
	c.stored += templateSize(rule)
	t.rule, t.source = rule, c.sources.number(source{rule.Position.Source, c.rank})
	if c.templates == nil {
		c.templates = &templateIndex{byKey: map[string]*templateRule{}, foldCase: c.opts.foldCase}
		c.shapes, c.inSource = map[string]map[string][]*templateRule{}, map[string]Rule{}
	}
	if twin, twice := c.inSource[t.key]; twice {
		c.failDuplicate(c.added.n, twin, rule)
		return
	}
	c.inSource[t.key] = rule
	there := c.templates.byKey[t.key]
	switch {
	case there == nil:
		t.number = len(c.templates.rules)
		c.templates.rules = append(c.templates.rules, t)
		c.templates.byKey[t.key] = t
		c.warnOfRule(rule, parsed)
		c.warnOfTemplate(t)
	default:
		c.keepShadowed(keyOfSource{c.rank, t.key}, rule)
		c.warnShadowed(rule, there.rule, c.rankOf(there))
	}
}

// templateSize is about what a compiled template takes, in bytes: some for each part of it, and its
// text several times over.
func templateSize(rule Rule) int { return 1024 + 8*(len(rule.Key)+len(rule.Value)) }

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
	if name := t.reservedInQuery(); name != "" {
		c.warn(WarnReservedQuery, t.rule, "{+"+name+"} in the query lets values add parameters, as it leaves & and = as they are; write {"+name+"}")
	}
	shape, lengths := t.shape()
	compared := 0
	for others, alike := range c.shapes[shape] {
		if others == lengths {
			continue // what has as much text in the same places, and is not equal, has nothing in common
		}
		if compared += len(alike); compared > mostCompared {
			break
		}
		if other, path := firstThatMatches(alike, t); other != nil {
			c.warn(WarnAmbiguous, t.rule, "the path /"+path+" matches the key "+
				quote(other.rule.Key)+" of "+placeOf(other.rule, c.rankOf(other))+", too, with nothing "+
				"to choose by; the rule answers whose key comes first in alphabetical order")
			break
		}
	}
	if c.shapes[shape] == nil {
		c.shapes[shape] = map[string][]*templateRule{}
	}
	c.shapes[shape][lengths] = append(c.shapes[shape][lengths], t)
}

// rankOf returns the precedence of a template's source.
func (c *Compiler) rankOf(t *templateRule) int { return c.sources.all[t.source].rank }

// mostCompared is how many others a template is compared with at most.
const mostCompared = 1000

// reservedInQuery returns a variable that stands in the query with its reserved characters, or "".
func (t *templateRule) reservedInQuery() string {
	for _, piece := range t.value.query {
		if piece.slot >= 0 && piece.operator == uritemplate.Reserved {
			return t.names[piece.slot]
		}
	}
	return ""
}

// firstThatMatches returns the first template that matches a path which t matches, too.
func firstThatMatches(templates []*templateRule, t *templateRule) (other *templateRule, path string) {
	for _, other := range templates {
		if path, ok := bothMatch(other, t); ok {
			return other, path
		}
	}
	return nil, ""
}

// shape says which segments of a key are literal, and with which text, and how much text the others have; lengths, where they have it.
func (t *templateRule) shape() (shape, lengths string) {
	var literal, around strings.Builder
	for i := range t.segments {
		p := &t.segments[i]
		if p.isLiteral() {
			literal.WriteString("/" + p.prefix)
			continue
		}
		literal.WriteString("/{" + strconv.Itoa(t.weight(i)))
		around.WriteString("/" + strconv.Itoa(len(p.prefix)))
	}
	return literal.String(), around.String()
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

// findTemplateFailures finds the templates whose chain does not arrive, whatever their variables stand for, as long as no other key takes
// it.
func (c *Compiler) findTemplateFailures() {
	for _, t := range c.templates.all() {
		if !t.value.internal {
			continue
		}
		captures := slices.Repeat([]capture{{text: anySegment}}, len(t.names))
		first := step{status: c.opts.statusOf(t.rule), internal: true}
		end := c.follow(t.rule, t.value.pathOf(captures), newChain(&first), requestWork)
		if end.state == endUnmatched && c.opts.origin == "" {
			c.atSite.add(t.rule)
		}
		if !end.failed() {
			continue
		}
		t.failure = end.err()
		kind, message := WarnTooManyRedirects, "the chain never ends, or takes more than "+
			internalRedirects(c.opts.maxRedirects)+", for every value that no other key takes: "+
			"its requests are answered with an error; lead the rule elsewhere"
		if loop, is := t.failure.(*LoopError); is {
			kind, message = WarnLoop, "loop "+loop.path()+" for every value that no other key takes: its requests are answered with an error; lead the rule elsewhere"
		}
		c.warn(kind, t.rule, message)
	}
}
