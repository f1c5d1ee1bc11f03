package resolver

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver/pattern"
)

// templateCompiler compiles the rules whose keys are templates. It keeps only their records:
//
//	rules -> records -> twins are errors, shadowed rules are left out -> the tree -> failures
type templateCompiler struct {
	c       *Compiler
	records arena
	added   []addedTemplate // in the order in which they came
	encoded []byte          // scratch memory
}

// addedTemplate is a template that has been checked by itself.
type addedTemplate struct {
	at    ref
	place int // how many rules without variables were added before it
}

// templateCompiler returns the compiler of rules with variables.
func (c *Compiler) templateCompiler() *templateCompiler {
	if c.templateRules == nil {
		c.templateRules = &templateCompiler{c: c}
	}
	return c.templateRules
}

// add checks a rule and adds it.
func (tc *templateCompiler) add(rule Rule) {
	c := tc.c
	key, value, good := c.check().checkTemplate(rule)
	if !good {
		return
	}
	c.extent.compiled += templateSize(rule)
	r := record{
		key: key.text, base: value.base, query: value.query, fragment: value.fragment,
		status: c.opts.statusOf(rule), ownStatus: rule.Status, mode: rule.Query,
	}
	if value.outcome != "" {
		r.setOutcome(value.outcome)
	}
	r.describe(rule, c.numberOfSource(rule))
	tc.encoded = appendRecord(tc.encoded[:0], &r)
	at := tc.records.add(tc.encoded)
	c.table.arena.full = c.table.arena.full || tc.records.full
	tc.added = append(tc.added, addedTemplate{at, c.added.n})
}

// templateSize estimates the size of a compiled template in bytes: its texts, some of them twice,
// and its places in the index.
func templateSize(rule Rule) int {
	return 192 + 3*(encodedLength(rule.Key)+encodedLength(rule.Value)) + len(rule.Note)
}

// compileTemplates compiles the rules with variables.
func (c *Compiler) compileTemplates() { c.templateCompiler().compile() }

// compile finds the templates that serve, and makes their index.
func (tc *templateCompiler) compile() {
	c := tc.c
	c.templates = nil
	if len(tc.added) == 0 {
		return
	}
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
	x.sortBeginnings()
	x.nodes = slices.Clip(x.nodes)
	c.templates, tc.added = x, nil
}

// keyedTemplate is a template and a text by which templates are sorted.
type keyedTemplate struct {
	addedTemplate
	rank    int
	sortKey string
}

// serving returns the templates that serve, the better ones first. It reports twins, whose key an
// earlier template of their source has, and keeps templates that rules of earlier sources shadow.
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
			c.shadowed.keep(keyOfSource{this.rank, tc.key(this.at)}, tc.rule(this.at))
			last = this
		}
		serving, all = append(serving, first.at), all[n:]
	}
	slices.SortFunc(twins, func(a, b twinTemplate) int { return cmp.Compare(a.at, b.at) })
	for _, t := range twins {
		c.errs.failDuplicate(t.place, tc.rule(t.first), tc.rule(t.at))
	}
	return serving
}

// twinTemplate is a template whose key an earlier one of its source has.
type twinTemplate struct {
	addedTemplate
	first ref
}

// inOrder returns the templates, the better ones first. Those with the same key are in the order of
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

// sortKey returns a text that sorts templates, the better ones first, for matches that are equally
// long: like [pattern.Pattern.CompareSegments], and then by key.
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

// entriesOf returns the entries of templates, which are given the better ones first, in the order
// of their rules.
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
	compare := func(a, b placed) int { return c.opts.compareRules(a.rule, a.rank, b.rule, b.rank) }
	slices.SortFunc(all, compare)
	entries := make([]templateEntry, len(all))
	for i := range all {
		entries[i] = all[i].templateEntry
	}
	return entries
}

// rule, key and rank return those of a template, from its record.
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

// findTemplateFailures finds the templates whose chain has no end, whatever the values of their
// variables. Values for which another key matches do not count.
func (c *Compiler) findTemplateFailures() {
	c.chains.templateFailures = map[int]error{}
	c.chains.atSite = siteEnds{}
	chains := c.chainCompiler()
	for i := range c.templates.len() {
		c.opts.pauseAfter(i)
		value := c.templates.value(i)
		if !value.internal {
			continue
		}
		t := c.templates.ruleAt(i)
		captures := slices.Repeat([]string{AnySegment}, strings.Count(c.templates.key(i), "{"))
		first := step{status: c.opts.statusOf(t.rule), mode: t.rule.Query, internal: true}
		end := chains.follow(
			t.rule, value.baseOf(captures), newChain(&first), c.opts.templateLimits())
		if end.state == endUnmatched && c.opts.origin == "" {
			c.chains.atSite.add(t.rule)
		}
		if !end.failed() {
			continue
		}
		c.chains.templateFailures[i] = end.err()
	}
}
