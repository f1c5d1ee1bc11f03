package resolver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// Severity says how bad a finding is.
type Severity string

const (
	// SeverityError: clients get an error, or go round in a circle.
	SeverityError Severity = "error"
	// SeverityWarning: the rule does something that its author may not expect.
	SeverityWarning Severity = "warning"
	// SeverityNote: all is well, and could be better.
	SeverityNote Severity = "note"
)

// What [Ruleset.Check] finds beyond the warnings that there are of every ruleset.
const (
	// FindCircle: clients are redirected again and again, over redirects that end at this site.
	FindCircle WarningKind = "circle"
	// FindLost: a query or a fragment in a chain is never used, since an earlier one wins (3.3.2).
	FindLost WarningKind = "lost in a chain"
	// FindQuery: the query mode spells the value's query in another way (R13).
	FindQuery WarningKind = "query is changed"
	// FindChain: a chain of more than one internal redirect, which could be none.
	FindChain WarningKind = "long chain"
	// FindAgain: clients are redirected to a URL of the site, where another key redirects them again.
	FindAgain WarningKind = "redirected again"
	// FindFailing: clients are redirected to a URL of the site that is answered with an error.
	FindFailing WarningKind = "leads to an error"
	// FindEscape: a destination is a key, but for the escape of a reserved character.
	FindEscape WarningKind = "differs in an escape"
	// FindPlainHTTP: the destination is not encrypted.
	FindPlainHTTP WarningKind = "plain http"
)

// Finding is something that the author of a rule should know.
type Finding struct {
	Warning
	Severity Severity
	// Destination is, for a long chain, the destination that the rule could have itself.
	Destination string
	// URLs are, for a circle, those that a client is sent to, from the first one to where it began
	// or gave up; [Below] in them stands for any path.
	URLs []string
}

// Check reports everything that can be known of a ruleset, in no particular order. That is its
// warnings, and what only a look at each rule shows. It follows rules and redirects as they are
// compiled. Templates are sampled: with values that no other key takes, so that what becomes of a
// value that another key does take is told of that key alone. Circles are looked for from three
// samples of each rule, namely its key, the key with a slash, and something below it.
//
// hosts are names of the served site, as they stand in URLs, besides that of the origin, with their
// ports where these are not the default ones, and with a scheme (as in "http://go.example") where
// the site has that one alone; a redirect to one of them comes back to these rules.
func (rs *Ruleset) Check(hosts []string, report func(Finding)) {
	c := checker{ruleset: rs, report: report, site: rs.Site(hosts), circles: map[string]bool{},
		later: map[ref]*laterParts{}}
	c.escapes = escapes{ruleset: rs, site: &c.site}
	rs.eachEntry(c.checkRule)
	c.escapes.report(func(rule Rule, message string) {
		c.find(SeverityWarning, FindEscape, rule, message)
	})
	for _, t := range rs.templates.all() {
		c.checkTemplate(t)
	}
	for _, w := range rs.Warnings() {
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
	ruleset *Ruleset
	site    Site
	report  func(Finding)
	circles map[string]bool // keys of rules that lead into one
	escapes escapes
	visits  visits
	later   map[ref]*laterParts // by the entry of the rule whose value comes first

	query, destination []byte // to build them in
}

func (c *checker) checkRule(at ref) {
	var r record
	r.decode(&c.ruleset.table.arena, c.ruleset.table.arena.bytes(at))
	rule := c.ruleset.rule(at)
	value, _ := parseValue(rule.Value)
	c.checkQuery(rule, value)
	c.escapes.add(rule, value)
	if !value.internal && value.url.Scheme == "http" {
		c.find(SeverityNote, FindPlainHTTP, rule, plainHTTPMessage)
	}
	if r.flags.has(noDestination) {
		return
	}
	if r.hops > 1 {
		c.foundChain(rule, c.ruleset.resultOf(r, "", ""))
		c.checkLost(rule)
	}
	c.checkClients(rule, sample{path: "/" + r.key}, r.base, r.flags.has(requestOrigin))
}

// checkTemplate looks at a rule whose key is a template, with values that no other key takes.
func (c *checker) checkTemplate(t *templateRule) {
	if strings.HasPrefix(t.value.base, "http:") {
		c.find(SeverityNote, FindPlainHTTP, t.rule, plainHTTPMessage)
	}
	if c.ruleset.templateFailures[t.index] != nil {
		return
	}
	s := t.sample()
	c.checkTemplateQuery(t)
	if result := c.ruleset.resultFor(s.path, "", ""); result.Outcome == Redirect && result.Hops > 1 {
		result.Destination = s.named(result.Destination)
		c.foundChain(t.rule, result)
	}
	c.checkClients(t.rule, s, t.value.origin(), t.value.internal)
}

// checkTemplateQuery is checkQuery with sample values.
func (c *checker) checkTemplateQuery(t *templateRule) {
	if t.value.query == "" {
		return
	}
	samples := make([]string, len(t.names))
	for slot := range samples {
		samples[slot] = strings.Replace(sampleValue(slot), ":", "", 1)
	}
	written := t.value.queryOf(samples)
	mode := c.ruleset.opts.queryOf(t.rule.Query)
	c.query = mode.appendConstantQuery(c.query[:0], &c.ruleset.merger, written, "")
	if string(c.query) == written {
		return
	}
	named := func(query string) string {
		for slot, name := range t.names {
			query = strings.ReplaceAll(query, samples[slot], "{"+name+"}")
		}
		return query
	}
	c.foundQuery(t.rule, named(written), named(string(c.query)))
}

const plainHTTPMessage = "the destination is not encrypted; write https:// if the site has it"

func (c *checker) find(severity Severity, kind WarningKind, rule Rule, message string) {
	c.report(Finding{Warning: warningOf(kind, rule, message), Severity: severity})
}

func warningOf(kind WarningKind, rule Rule, message string) Warning {
	return Warning{Kind: kind, Position: rule.Position, Key: rule.Key, Message: message}
}

func (c *checker) foundChain(rule Rule, direct Result) {
	c.report(Finding{
		Warning: warningOf(FindChain, rule, "the chain has "+internalRedirects(direct.Hops)+
			"; in the end it leads to "+direct.Destination),
		Severity:    SeverityNote,
		Destination: direct.Destination,
	})
}

// checkQuery reports a query that its own rule, without any request's, spells in another way.
func (c *checker) checkQuery(rule Rule, value parsedValue) {
	destination, embedded := value.url.Query, strings.TrimPrefix(value.path.query, "?")
	written := destination + embedded
	if written == "" {
		return
	}
	mode := c.ruleset.opts.queryOf(rule.Query)
	c.query = mode.appendConstantQuery(c.query[:0], &c.ruleset.merger, destination, embedded)
	if string(c.query) != written {
		c.foundQuery(rule, written, string(c.query))
	}
}

func (c *checker) foundQuery(rule Rule, written, becomes string) {
	c.find(SeverityWarning, FindQuery, rule, "the query ?"+written+" becomes ?"+becomes+"; write "+
		"it so, or choose query preserve")
}

// Site knows which URLs some rules answer.
type Site struct {
	origin string   // of the requests that are made up
	hosts  []string // with their ports, as they stand in URLs, or origins
}

// Site returns the site that the rules are for, whose hosts are as those of [Ruleset.Check].
func (rs *Ruleset) Site(hosts []string) Site {
	s := Site{origin: rs.opts.origin}
	for _, host := range hosts {
		written, ofOneScheme := host, strings.Contains(host, "://")
		if !ofOneScheme {
			written = "https://" + host
		}
		u, err := weburl.Parse(written)
		if err != nil {
			continue
		}
		if ofOneScheme {
			s.hosts = append(s.hosts, u.Origin())
		} else {
			s.hosts = append(s.hosts, hostOf(u.Origin()))
		}
		s.origin = cmp.Or(s.origin, u.Origin())
	}
	if rs.opts.origin != "" || len(s.hosts) == 0 {
		s.origin = cmp.Or(s.origin, "http://localhost")
		s.hosts = append(s.hosts, hostOf(s.origin))
	}
	return s
}

// Origin returns the origin of requests that nobody has made: that of the options, or else the
// first host's.
func (s *Site) Origin() string { return s.origin }

// Path returns the path of a URL, as the URL Standard spells it, if it is one of the site.
func (s *Site) Path(url string) (path string, ok bool) {
	if !s.has(url) {
		return "", false
	}
	_, rest, _ := strings.Cut(url, "://")
	path = rest[len(hostOf(url)):]
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return path, true
}

// has reports whether a URL, as the URL Standard spells it, is one of the site.
func (s *Site) has(url string) bool {
	scheme, _, isAbsolute := strings.Cut(url, "://")
	if !isAbsolute {
		return false
	}
	host := hostOf(url)
	origin := url[:len(scheme)+len("://")+len(host)]
	return slices.Contains(s.hosts, host) || slices.Contains(s.hosts, origin)
}

// hostOf returns the host of a URL, with the port if it has one.
func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		return host[:end]
	}
	return host
}
