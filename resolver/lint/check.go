package lint

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Severity says how bad a finding is.
type Severity string

const (
	// SeverityError: clients get an error, or are redirected in a circle.
	SeverityError Severity = "error"
	// SeverityWarning: the rule does something that its author may not expect.
	SeverityWarning Severity = "warning"
	// SeverityNote: all is well, but could be better.
	SeverityNote Severity = "note"
)

// The kinds of findings of [Check] besides those of warnings.
const (
	// FindCircle: clients are redirected in a circle, by redirects that lead back to this site.
	FindCircle Kind = "circle"
	// FindLost: a query or a fragment in a chain is never used, because an earlier one has precedence
	// (3.3.2).
	FindLost Kind = "lost in a chain"
	// FindQuery: the query mode spells the value's query in another way (R13).
	FindQuery Kind = "query is changed"
	// FindChain: a chain of more than one internal redirect, which is not needed.
	FindChain Kind = "long chain"
	// FindAgain: clients are redirected to a URL of the site, where another key redirects them
	// again.
	FindAgain Kind = "redirected again"
	// FindFailing: clients are redirected to a URL of the site that answers with an error.
	FindFailing Kind = "leads to an error"
	// FindEscape: a destination is a key except for the escape of a reserved character.
	FindEscape Kind = "differs in an escape"
	// FindPlainHTTP: the destination is not encrypted.
	FindPlainHTTP Kind = "plain http"
)

// Finding is something that the author of a rule should know.
type Finding struct {
	Warning
	Severity Severity
	// Destination is, for a long chain, the destination that the rule could have instead.
	Destination string
	// URLs are, for a circle, those to which a client is sent, from the first one to its repetition,
	// or to where the client gives up. [resolver.Below] in them stands for any path.
	URLs []string
}

// Check reports everything that can be found out about a ruleset, in no particular order: the
// warnings of its list, and what takes an examination of each rule. It follows rules and redirects
// as they are compiled. Templates are tried with sample values that no other key matches. What
// happens to other values is reported for the keys that match them. Circles are looked for from
// three samples of each rule: its key, the key with a slash, and something below it.
//
// hosts are names of the served site besides that of the origin. A redirect to one of them comes
// back to these rules. They are written as in URLs: with a port if it is not the default one, and
// with a scheme (as in "http://go.example") if the site has only that one.
func Check(rs *resolver.Ruleset, warnings *List, hosts []string, report func(Finding)) {
	c := checker{
		Ruleset: rs, report: report, site: SiteOf(rs, hosts), failures: map[int]bool{},
		circles: map[string]bool{}, tails: map[int]*tail{},
	}
	for number := range rs.Failures() {
		c.failures[number] = true
	}
	c.escapes = escapes{Ruleset: rs, site: &c.site, foldCase: rs.Options().FoldCase}
	for number := range rs.Keys() {
		c.checkRule(number)
	}
	c.escapes.report(func(rule resolver.Rule, message string) {
		c.find(SeverityWarning, FindEscape, rule, message)
	})
	for rule := range rs.Templates() {
		c.checkTemplate(rule)
	}
	for _, w := range warnings.Warnings() {
		switch {
		case w.IsBroken():
			report(Finding{Warning: w, Severity: SeverityError})
		case w.Kind == WarnMeetsKey && c.circles[w.Key]: // which is what it warns of
		default:
			report(Finding{Warning: w, Severity: SeverityWarning})
		}
	}
}

// checker looks at each rule of a ruleset.
type checker struct {
	*resolver.Ruleset
	site     Site
	report   func(Finding)
	failures map[int]bool    // the numbers of rules that are answered with an error
	circles  map[string]bool // keys of rules that lead into one
	escapes  escapes
	visits   visits
	tails    map[int]*tail // of chains, by the number of the rule that comes first

	destination []byte // to build it in
}

// checkRule checks a rule without variables.
func (c *checker) checkRule(number int) {
	rule, _ := c.Numbered(number)
	c.checkQuery(rule)
	c.escapes.add(rule)
	if isOutcome(rule.Value) {
		return
	}
	c.checkScheme(rule)
	destination := rule.Value
	if isInternal(rule.Value) {
		direct := c.ResolvePath("/" + c.KeyOf(number))
		if direct.Outcome != resolver.Redirect {
			return
		}
		if direct.Hops > 1 {
			c.foundChain(rule, direct)
			c.checkLost(rule)
		}
		destination = direct.Destination
	}
	c.checkClients(rule, c.SampleOf(number), destination)
}

// checkScheme reports a destination that is not encrypted.
func (c *checker) checkScheme(rule resolver.Rule) {
	if strings.HasPrefix(rule.Value, "http:") {
		c.find(SeverityNote, FindPlainHTTP, rule,
			"the destination is not encrypted; write https:// if the site has it")
	}
}

// checkTemplate checks a rule whose key is a template, with values that no other key matches.
func (c *checker) checkTemplate(rule resolver.Rule) {
	c.checkScheme(rule)
	number, _ := c.NumberOf(rule.Key)
	if c.failures[number] {
		return
	}
	s := c.SampleOf(number)
	c.checkTemplateQuery(rule, s)
	if direct := c.ResolvePath(s.Path()); direct.Outcome == resolver.Redirect && direct.Hops > 1 {
		direct.Destination = s.Named(direct.Destination)
		c.foundChain(rule, direct)
	}
	if !isOutcome(rule.Value) {
		c.checkClients(rule, s, rule.Value)
	}
}

// checkTemplateQuery is checkQuery with sample values, without their reserved character.
func (c *checker) checkTemplateQuery(rule resolver.Rule, s resolver.Sample) {
	path := strings.ReplaceAll(s.Path(), ":"+resolver.AnySegment, resolver.AnySegment)
	step, _, ok := c.Match(path)
	if !ok || step.Rule.Key != rule.Key {
		return
	}
	named := func(query string) string {
		for _, capture := range step.Captures {
			query = strings.ReplaceAll(query, capture.Raw, "{"+capture.Name+"}")
		}
		return query
	}
	written, spelled := c.QueryOf(resolver.Rule{Value: step.Value, Query: rule.Query})
	if spelled != written {
		c.foundQuery(rule, named(written), named(spelled))
	}
}

func (c *checker) find(severity Severity, kind Kind, rule resolver.Rule, message string) {
	c.report(Finding{Warning: about(rule, kind, message), Severity: severity})
}

func (c *checker) foundChain(rule resolver.Rule, direct resolver.Result) {
	c.report(Finding{
		Warning: about(rule, FindChain, "the chain has "+internalRedirects(direct.Hops)+
			"; in the end it leads to "+direct.Destination),
		Severity:    SeverityNote,
		Destination: direct.Destination,
	})
}

// checkQuery reports a query that the rule's query mode spells differently, whatever the request.
func (c *checker) checkQuery(rule resolver.Rule) {
	if strings.IndexByte(rule.Value, '?') < 0 {
		return // as most have none
	}
	if written, spelled := c.QueryOf(rule); spelled != written {
		c.foundQuery(rule, written, spelled)
	}
}

func (c *checker) foundQuery(rule resolver.Rule, written, becomes string) {
	c.find(SeverityWarning, FindQuery, rule, "the query ?"+written+" becomes ?"+becomes+"; write "+
		"it so, or choose query preserve")
}
