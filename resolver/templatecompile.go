package resolver

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// templateCompiler compiles the rules whose keys are templates. Of a rule it keeps the record:
//
//	rules -> records -> twins are errors, shadowed rules are left out -> the tree -> failures
type templateCompiler struct {
	c       *Compiler
	records arena
	added   []addedTemplate // in the order in which they came
}

// addedTemplate is a template that has been checked by itself.
type addedTemplate struct {
	at    ref
	place int // how many rules without variables were added before it
}

// templateCompiler returns the compiler of the rules with variables.
func (c *Compiler) templateCompiler() *templateCompiler {
	if c.templateRules == nil {
		c.templateRules = &templateCompiler{c: c}
	}
	return c.templateRules
}

// add checks a rule, and adds it.
func (tc *templateCompiler) add(rule Rule) {
	c := tc.c
	key, value, good := tc.check(rule)
	if !good {
		return
	}
	c.compiled += templateSize(rule)
	r := record{
		key: key.text, base: value.base, query: value.query, fragment: value.fragment,
		status: c.opts.statusOf(rule), ownStatus: rule.Status, mode: rule.Query,
	}
	if value.outcome != "" {
		r.setOutcome(value.outcome)
	}
	r.describe(rule, c.sources.number(source{rule.Position.Source, c.rank}))
	c.encoded = appendRecord(c.encoded[:0], &r)
	at, ok := tc.records.add(c.encoded)
	c.full = c.full || !ok
	tc.added = append(tc.added, addedTemplate{at, c.added.n})
}

// check parses key and value of a rule, and reports everything that is wrong with it by itself.
func (tc *templateCompiler) check(rule Rule) (key templateKey, value templateValue, good bool) {
	c := tc.c
	before := c.wrong
	key, err := c.opts.parseTemplateKey(rule.Key)
	if err != nil {
		_, inValue := parseValue(rule.Value)
		c.failParts(rule, err, inValue)
	} else {
		value = tc.checkValue(rule, key.names)
	}
	c.checkStatus(rule)
	c.checkQueryMode(rule)
	c.checkNote(rule)
	return key, value, c.wrong == before
}

// checkValue parses the value of a rule, and reports what is wrong with it.
func (tc *templateCompiler) checkValue(rule Rule, names []string) templateValue {
	value, parsed, err := parseTemplateValue(rule.Value, names)
	switch {
	case err != nil:
		tc.c.failParts(rule, nil, err)
	case value.outcome == "" && !value.internal && !tc.c.opts.hostAllowed(parsed.url.Host):
		tc.c.fail(rule, ErrHostNotAllowed, hostMessage(parsed.url.Host))
	}
	return value
}

// templateSize is about what a compiled template takes, in bytes: its texts, some of them twice,
// and its places in the index.
func templateSize(rule Rule) int {
	return 192 + 3*(encodedLength(rule.Key)+encodedLength(rule.Value)) + len(rule.Note)
}

// compile finds out which templates serve, and makes their index.
func (tc *templateCompiler) compile() {
	c := tc.c
	c.templates, c.warnings.groups[ofTemplates] = nil, nil
	if len(tc.added) == 0 {
		return
	}
	c.warningGroup = ofTemplates
	x := newTemplateIndex(&c.opts, c.sources.all, tc.records)
	serving := tc.serving()
	x.entries = tc.entriesOf(serving)
	index := make([]int, len(serving))
	for i, entry := range x.entries {
		index[entry.order] = i
	}
	for n, i := range index {
		c.opts.pauseAfter(n)
		b := x.records.bytes(x.entries[i].at)
		x.insert(pattern.Parse(recordKey(b), headerOf(b).flags().has(exactKey)), i)
	}
	x.nodes = slices.Clip(x.nodes)
	c.templates, tc.added = x, nil
	c.warnOfTemplates()
	c.warningGroup = ofRules
}

// keyedTemplate is a template with text in whose order templates are.
type keyedTemplate struct {
	addedTemplate
	rank    int
	sortKey string
}

// serving returns the templates that serve, the better ones first. It reports twins, whose key an
// earlier template of their source has, and keeps those that rules of earlier sources shadow.
func (tc *templateCompiler) serving() (serving []ref) {
	c := tc.c
	var twins []twinTemplate
	for all := tc.inOrder(); len(all) > 0; {
		first, last := all[0], all[0] // of the key, and of its source
		n := 1
		for ; n < len(all) && all[n].sortKey == first.sortKey; n++ {
			this := all[n]
			if this.rank == last.rank {
				twins = append(twins, twinTemplate{this.addedTemplate, last.at})
				continue
			}
			rule := tc.rule(this.at)
			c.keepShadowed(keyOfSource{this.rank, tc.key(this.at)}, rule)
			c.warnShadowed(rule, this.rank, tc.rule(first.at), first.rank)
			last = this
		}
		serving, all = append(serving, first.at), all[n:]
	}
	slices.SortFunc(twins, func(a, b twinTemplate) int { return cmp.Compare(a.at, b.at) })
	for _, t := range twins {
		c.failDuplicate(t.place, tc.rule(t.first), tc.rule(t.at))
	}
	return serving
}

// twinTemplate is a template whose key an earlier one of its source has.
type twinTemplate struct {
	addedTemplate
	first ref
}

// inOrder returns the templates, the better ones first, and those with the same key in the order of
// their sources.
func (tc *templateCompiler) inOrder() []keyedTemplate {
	all := make([]keyedTemplate, len(tc.added))
	for i, t := range tc.added {
		var r record
		r.decode(&tc.records, tc.records.bytes(t.at))
		all[i] = keyedTemplate{t, tc.c.rankOfSource(r.position.source), sortKey(r.key)}
	}
	slices.SortStableFunc(all, func(a, b keyedTemplate) int {
		return cmp.Or(strings.Compare(a.sortKey, b.sortKey), cmp.Compare(a.rank, b.rank))
	})
	return all
}

// sortKey returns text in whose order the better ones of templates come first, among those whose
// matches are equally long: as [pattern.Pattern.CompareSegments] has them, and then by their keys.
func sortKey(key string) string {
	b := make([]byte, 0, 128)
	p := pattern.Parse(key, false)
	for i, s := range p.Segments() {
		switch {
		case s.IsLiteral():
			b = append(b, 1)
		case i == p.Span():
			b = append(b, 3)
		default:
			less := math.MaxUint32 - uint32(s.LiteralLength())
			b = binary.BigEndian.AppendUint32(append(b, 2), less)
		}
	}
	return string(append(append(b, 0), key...))
}

// entriesOf returns the entries of templates, the better ones first, in the order of their rules.
func (tc *templateCompiler) entriesOf(serving []ref) []templateEntry {
	c := tc.c
	type placed struct {
		templateEntry
		rankedRule
	}
	all := make([]placed, len(serving))
	for i, at := range serving {
		rule := tc.rule(at)
		rule.Value, rule.Note = "", ""
		all[i] = placed{templateEntry{at: at, order: uint32(i)}, rankedRule{tc.rank(at), rule}}
	}
	compare := func(a, b placed) int { return c.opts.compareRanked(a.rankedRule, b.rankedRule) }
	slices.SortFunc(all, compare)
	entries := make([]templateEntry, len(all))
	for i := range all {
		entries[i] = all[i].templateEntry
	}
	return entries
}

// rule, key and rank are those of a template, by its record.
func (tc *templateCompiler) rule(at ref) Rule {
	var r record
	r.decode(&tc.records, tc.records.bytes(at))
	return r.rule(tc.c.sources.all)
}

func (tc *templateCompiler) key(at ref) string { return recordKey(tc.records.bytes(at)) }

func (tc *templateCompiler) rank(at ref) int {
	var r record
	r.decode(&tc.records, tc.records.bytes(at))
	return tc.c.rankOfSource(r.position.source)
}

// findTemplateFailures finds the templates whose chain does not arrive, whatever their variables
// stand for. Values that another key takes do not count.
func (c *Compiler) findTemplateFailures() {
	c.templateFailures = map[int]error{}
	for i := range c.templates.len() {
		c.opts.pauseAfter(i)
		value := c.templates.value(i)
		if !value.internal {
			continue
		}
		t := c.templates.ruleAt(i)
		captures := slices.Repeat([]string{anySegment}, strings.Count(c.templates.key(i), "{"))
		first := step{status: c.opts.statusOf(t.rule), mode: t.rule.Query, internal: true}
		end := c.follow(t.rule, value.baseOf(captures), newChain(&first), c.opts.templateLimits())
		if end.state == endUnmatched && c.opts.origin == "" {
			c.atSite.add(t.rule)
		}
		if !end.failed() {
			continue
		}
		failure := end.err()
		c.templateFailures[i] = failure
		kind, message := templateFailure(failure, c.opts.maxRedirects)
		c.warnAbout(t.rule, t.rank, Warning{Kind: kind, Message: message})
	}
}

// templateFailure says what becomes of a template whose chain does not arrive.
func templateFailure(failure error, maxRedirects int) (WarningKind, string) {
	const forAll = "for every value that no other key takes: its requests are answered with an " +
		"error; lead the rule elsewhere"
	if loop, is := failure.(*LoopError); is {
		return WarnLoop, "loop " + loop.path() + " " + forAll
	}
	if failure == ErrPathTooLong {
		return WarnTooManyRedirects, "the chain comes to a path of more than 8 KiB that begins as " +
			"a template does, " + forAll
	}
	return WarnTooManyRedirects, "the chain never ends, or takes more than " +
		internalRedirects(min(maxRedirects, maxTemplateRedirects)) + ", " + forAll
}
