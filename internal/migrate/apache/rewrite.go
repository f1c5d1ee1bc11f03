package apache

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Directives of mod_rewrite that redirect.

// rewriting holds the lines of mod_rewrite. The last RewriteEngine and the last RewriteBase apply
// to the whole file, so rules are judged after reading.
type rewriting struct {
	isOff bool
	// base is the path that relative destinations have in front, with a slash at its end, and
	// directory that of the file. Without a --base it is the same.
	base, directory string
	hasBase         bool
	conditions      []condition // of the next rule
	rules           []directive
	// tied counts the next rules that depend on an earlier one; whyTied is the reason.
	tied    int
	whyTied error
}

// readRewriteDirective handles a line of mod_rewrite other than a rule.
func (h *reader) readRewriteDirective(d *directive) {
	words, _ := rewriteWords.Split(d.line, d.end)
	first := ""
	if len(words) > 0 {
		first = words[0].Text
	}
	state := &h.rewrite
	switch {
	case d.name == "rewriteengine":
		state.isOff = strings.EqualFold(first, "off")
	case d.name == "rewritecond" && len(words) >= 2:
		state.conditions = append(state.conditions, newCondition(d.at, words))
	case d.name == "rewritecond":
		h.Wrong(d.at, "a RewriteCond has a test string and a pattern; write, for example: RewriteCond "+
			"%%{REQUEST_FILENAME} !-f")
	case d.name == "rewritebase" && strings.HasPrefix(first, "/"):
		state.base = redirects.Encoded(strings.TrimSuffix(first, "/") + "/")
		state.hasBase = true
	case d.name == "rewritebase":
		h.Wrong(d.at, "a RewriteBase begins with \"/\", and is not %s", printable.Quote(first))
	default: // RewriteOptions, RewriteMap, RewriteLock, RewriteLog
		h.said.countSkipped(d)
	}
}

// rewriteWords splits words like mod_rewrite: a backslash before white space joins the word, and
// stays in it.
var rewriteWords = migrate.Splitter{EndsQuotes: true, Unescape: func(c, _ byte) (string, bool) {
	return `\` + string(c), strings.IndexByte(migrate.Space, c) >= 0
}}

// convertRules handles all RewriteRules.
func (h *reader) convertRules() {
	h.rewrite.directory = cmp.Or(h.Base, h.rewrite.base)
	for i := range h.rewrite.rules {
		if h.IsGivenUp(h.rewrite.rules[i].at) {
			return
		}
		h.convertRule(&h.rewrite.rules[i])
	}
}

// convertRule handles a RewriteRule with its conditions.
func (h *reader) convertRule(d *directive) {
	rule, err := parseRule(d)
	tied := h.rewrite.tie(&rule)
	switch {
	case err != nil:
		h.Wrong(rule.at, "%s", err)
		return
	case h.rewrite.isOff:
		h.Drop(rule.at, "no request reaches this line: the last RewriteEngine of the file is off; "+
			"remove the line")
		return
	}
	rule.applyDefaults(h)
	switch {
	case rule.passes() && !rule.decides:
		h.said.countSkipped(d)
		return
	case rule.isFront():
		h.said.hasFront = true
		if !rule.passes() {
			h.said.deciding = append(h.said.deciding, rule.at)
		}
		return
	case rule.passes() && rule.isLast && tied == nil && areOfExistingFiles(d.conditions):
		h.said.letsFilesPass = true
		return
	}
	e, inPattern := rule.expression(h.rewrite.directory, h.Loosely)
	ways, inConditions := judge(d.conditions, h.Reading.Hosts)
	hostError := h.hostError(&rule, e, d.conditions, inConditions)
	why := cmp.Or(inConditions, tied, rule.refusal(), inPattern)
	switch {
	case hostError != nil:
		h.Refuse(rule.at, nil, hostError)
	case why != nil:
		h.refuseRule(&rule, e, ways, why)
	case wantsQuery(e):
		h.Drop(rule.at, noQuery)
	default:
		h.addRule(&rule, e, ways)
	}
}

// refuseRule refuses a rule. A refused rule that is not a redirect can affect the rules after it.
func (h *reader) refuseRule(
	rule *rewriteRule, e *pathexpr.Expression, ways []string, why error,
) {
	if rule.answer == redirects.Passes || rule.ties > 0 {
		h.said.deciding = append(h.said.deciding, rule.at)
	}
	path := pathexpr.Front(rule.pattern, h.rewrite.directory)
	if e != nil {
		path = e.Paths[0].Segments
	}
	h.RefuseLine(redirects.Line{At: rule.at, Answer: rule.answer, Status: rule.status,
		Query: rule.query(), Notes: ways, To: redirects.Literal(rule.written(h.rewrite.base))}, path, why)
}

// tie returns an error if a rule depends on an earlier one. It records how many later rules depend
// on this one.
func (r *rewriting) tie(rule *rewriteRule) (why error) {
	if r.tied > 0 {
		why = r.whyTied
		r.tied--
	}
	if rule.ties > r.tied {
		r.tied, r.whyTied = rule.ties, fmt.Errorf("the line at %s is chained with this one ([C]), or "+
			"skips it ([S]); use Caddy's redir with a path_regexp matcher", rule.at)
	}
	return why
}

// addRule adds the lines of a rule.
func (h *reader) addRule(rule *rewriteRule, e *pathexpr.Expression, ways []string) {
	line := redirects.Line{At: rule.at, Answer: rule.answer, Status: rule.status}
	if rule.answer == redirects.Leads {
		line.Query = rule.query()
	}
	isRelative := false
	isAdded := h.AddPaths(line, e, func(p *pathexpr.Path) ([]redirects.Piece, error) {
		to, err := substitute(e, p, rule.written(h.rewrite.directory))
		if err == nil && migrate.CheckPieces(to) != nil {
			isRelative = true
			to, err = substitute(e, p, literal.Replace(h.rewrite.base)+rule.written(h.rewrite.directory))
		}
		return to, err
	})
	if !isAdded {
		return
	}
	if rule.answer == redirects.Leads && !rule.isLast {
		ways = append(ways,
			"the line has no L: there, later RewriteRules match the path that it leads to")
	}
	if isRelative && !h.rewrite.hasBase {
		ways = append(ways, "without a RewriteBase, Apache reads a destination without a leading \"/\" "+
			"as a file; here it is a path of the site")
	}
	for _, how := range ways {
		h.Approximate(rule.at, how)
	}
	s := &h.said
	s.hasRewrite, s.isBehind = true, s.deciding != nil
	s.hasQSA = s.hasQSA || line.Query == resolver.QueryPreserve
	if rule.passes() {
		s.passing = append(s.passing, rule.at)
	}
}

// hostError returns an error for a rule that leads one host to another. On a site with both hosts,
// the second would redirect to itself.
func (h *reader) hostError(
	rule *rewriteRule, e *pathexpr.Expression, conditions []condition, inConditions error,
) error {
	if e == nil || !migrate.IsURL(rule.to) {
		return nil
	}
	p := &e.Paths[0]
	to, _ := substitute(e, p, rule.written(h.rewrite.directory))
	itself, _ := substitute(e, p, literal.Replace(h.rewrite.directory)+"$0")
	front, isSame := strings.CutSuffix(to[0].Text, itself[0].Text)
	host, _, _ := migrate.CutURL(front)
	isOwn := h.HasHost(host) && inConditions == nil
	if !isSame || !slices.Equal(to[1:], itself[1:]) || !isOwn && !hasHost(conditions) ||
		strings.Contains(host, "%") {
		return nil
	}
	return fmt.Errorf("this leads one host to the same paths of another, and rules have no host; "+
		"write a site block for the host, with: redir %s{uri} %d", front,
		cmp.Or(rule.status, h.Status))
}

// condition is a RewriteCond.
type condition struct {
	test, pattern string // without a "!" in front
	isNegated     bool
	isOr          bool // this condition or the next must hold
	at            resolver.Position
}

// newCondition parses the words after RewriteCond.
func newCondition(at resolver.Position, words []migrate.Word) condition {
	c := condition{test: words[0].Text, at: at}
	c.pattern, c.isNegated = strings.CutPrefix(words[1].Text, "!")
	if len(words) > 2 {
		flags, _ := splitFlags(strings.ToLower(words[2].Text))
		c.isOr = slices.Contains(flags, "or") || slices.Contains(flags, "ornext")
	}
	return c
}

// judge describes the differences that conditions make. The error explains why a rule with these
// conditions has no equivalent.
func judge(conditions []condition, hosts []string) (ways []string, err error) {
	isOfFiles := false
	for i := range conditions {
		c := &conditions[i]
		switch {
		case c.isOr && !c.isOfHost():
			return nil, c.refuse("Apache needs only one of several conditions to hold")
		case c.isOfFile() && c.isNegated:
			isOfFiles = true
		case c.isOfHost():
			how, err := c.judgeHost(hosts)
			if err != nil {
				return nil, err
			}
			ways = append(ways, how...)
		default:
			return nil, c.refuse(c.remedy())
		}
	}
	if isOfFiles {
		ways = append(ways, "there, files that exist take precedence; here the rule does, unless "+
			"shortlink has a matcher \"not file\"")
	}
	return ways, nil
}

// isOfFile reports whether a condition tests that the requested file or folder exists.
func (c *condition) isOfFile() bool {
	return slices.Contains([]string{"-f", "-d", "-l", "-s"}, c.pattern) &&
		slices.Contains([]string{"%{REQUEST_FILENAME}", "%{SCRIPT_FILENAME}",
			"%{DOCUMENT_ROOT}%{REQUEST_URI}", "%{DOCUMENT_ROOT}/%{REQUEST_URI}"}, c.test)
}

// areOfExistingFiles reports whether all conditions require an existing file or folder.
func areOfExistingFiles(conditions []condition) bool {
	isOther := func(c condition) bool { return !c.isOfFile() || c.isNegated }
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, isOther)
}

func (c *condition) isOfHost() bool {
	return c.test == "%{HTTP_HOST}" || c.test == "%{SERVER_NAME}"
}

func hasHost(conditions []condition) bool {
	return slices.ContainsFunc(conditions, func(c condition) bool { return c.isOfHost() })
}

func (c *condition) refuse(why string) error {
	return fmt.Errorf("the line has a condition at line %d, on %s, and a rule matches the path "+
		"alone: %s", c.at.Line, printable.Quote(c.test), why)
}

// remedy names a replacement for a condition.
func (c *condition) remedy() string {
	isOfScheme := strings.HasPrefix(c.test, "%{HTTPS}") || c.test == "%{SERVER_PORT}" ||
		c.test == "%{REQUEST_SCHEME}" || strings.Contains(c.test, "X-Forwarded-Proto")
	switch {
	case isOfScheme:
		return "leave the line out, as Caddy redirects to HTTPS by itself"
	case c.test == "%{QUERY_STRING}":
		return "use Caddy's redir with a query matcher"
	case strings.HasPrefix(c.test, "%{HTTP_"), strings.HasPrefix(c.test, "%{HTTP:"):
		return "use Caddy's redir with a header matcher"
	case c.test == "%{REMOTE_ADDR}", c.test == "%{REMOTE_HOST}":
		return "use Caddy's redir with a remote_ip matcher"
	}
	return "use Caddy's redir with a matcher"
}

// judgeHost judges a condition on the host by the hosts of the site.
func (c *condition) judgeHost(hosts []string) (ways []string, err error) {
	const remedy = "if the host is this site's, name it with --line-host; otherwise use the rules " +
		"in the block of that host's site"
	pattern := c.pattern
	if exact, is := strings.CutPrefix(pattern, "="); is {
		pattern = "^" + regexp.QuoteMeta(exact) + "$"
	}
	matches, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, c.refuse("the pattern has no equivalent; " + remedy)
	}
	n := 0
	for _, host := range hosts {
		if matches.MatchString(host) != c.isNegated {
			n++
		}
	}
	switch n {
	case 0:
		return nil, c.refuse(remedy)
	case len(hosts):
		return nil, nil
	}
	return []string{"there, the line is for some of the site's hosts; here it is for all"}, nil
}
