package rulefile

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What Apache's mod_rewrite has, as far as it redirects.

// rewriteState is what lines of mod_rewrite say. RewriteEngine and RewriteBase hold for the whole
// file, and the last one counts, so rules are judged when all has been read.
type rewriteState struct {
	isOff      bool
	base       string // the path of the directory, with a slash at its end
	hasBase    bool
	conditions []rewriteCondition
	rules      []pendingRule
	barriers   []rewriteBarrier
	// passing are the paths of lines that end mod_rewrite, and let a request pass.
	passing []passingPath
	// frontControllers are lines that lead all requests to one program.
	frontControllers int
	// addsParameters tells that a line adds those of a request to those of its destination.
	addsParameters bool
	// filesWin tells that a line lets requests for files pass.
	filesWin bool
	tie      ruleTie
}

// pendingRule is a RewriteRule with the conditions in front of it.
type pendingRule struct {
	directive
	conditions []rewriteCondition
}

// rewriteCondition is a RewriteCond.
type rewriteCondition struct {
	test, pattern string
	flags         []string
	at            resolver.Position
}

// takeRewriting takes in a line of mod_rewrite other than a rule.
func (h *htaccessReader) takeRewriting(d *directive) {
	words := rewriteWords(d)
	first := ""
	if len(words) > 0 {
		first = words[0].text
	}
	state := &h.rewrite
	switch {
	case d.name == "rewriteengine":
		state.isOff = strings.EqualFold(first, "off")
	case d.name == "rewritecond" && len(words) >= 2:
		condition := rewriteCondition{test: first, pattern: words[1].text, at: d.at}
		if len(words) > 2 {
			condition.flags, _ = rewriteFlags(words[2].text)
		}
		state.conditions = append(state.conditions, condition)
	case d.name == "rewritecond":
		h.wrong(d.at, "a RewriteCond has what is looked at and a pattern; write: RewriteCond "+
			"%%{REQUEST_FILENAME} !-f")
	case d.name == "rewritebase" && strings.HasPrefix(first, "/"):
		state.base, state.hasBase = encodedPath(strings.TrimSuffix(first, "/")+"/"), true
	case d.name == "rewritebase":
		h.wrong(d.at, "a RewriteBase begins with \"/\", and is not %s", quote(first))
	default: // RewriteOptions, RewriteMap, RewriteLock, RewriteLog
		h.passOver(d)
	}
}

// rewriteWords splits words as mod_rewrite does: a backslash in front of white space keeps a word
// together, and stays.
func rewriteWords(d *directive) (words []word) {
	for at := 0; at < len(d.rest); {
		if strings.IndexByte(lineSpace, d.rest[at]) >= 0 {
			at++
			continue
		}
		text := d.rest[at:]
		quotes, start := text[0], 0
		isQuoted := quotes == '"' || quotes == '\''
		if isQuoted {
			start = 1
		}
		end := start
		for end < len(text) {
			c := text[end]
			isSpace := strings.IndexByte(lineSpace, c) >= 0
			if isQuoted && c == quotes || !isQuoted && isSpace {
				break
			}
			if c == '\\' && end+1 < len(text) && strings.IndexByte(lineSpace, text[end+1]) >= 0 {
				end++
			}
			end++
		}
		words = append(words, word{text[start:min(end, len(text))], d.column + at})
		if at += end; isQuoted {
			at++
		}
	}
	return words
}

// rewriteFlags returns the flags in brackets.
func rewriteFlags(text string) (flags []string, err error) {
	inside, isOpen := strings.CutPrefix(text, "[")
	inside, isClosed := strings.CutSuffix(inside, "]")
	if !isOpen || !isClosed {
		return nil, errors.New("the flags stand in brackets, without white space, and are not " +
			quote(text) + "; write them like [R=301,L]")
	}
	for flag := range strings.SplitSeq(inside, ",") {
		flags = append(flags, strings.TrimSpace(flag))
	}
	return flags, nil
}

// rewriteRule is a RewriteRule taken apart.
type rewriteRule struct {
	at          resolver.Position
	pattern, to string
	status      int // 0 for none
	// What the flags say.
	isRedirect, isLast, folds, appendsQuery, dropsQuery, isLiteral bool
	answer                                                         redirectAnswer
	isChained                                                      bool // with the next line
	decides                                                        bool // how a request goes on
	skips                                                          int  // lines behind it
}

// takeRules takes in all RewriteRules. The error is that there are too many.
func (h *htaccessReader) takeRules() error {
	h.isLater = false
	state := &h.rewrite
	if state.base != "/" {
		h.remark("the file is taken for that of %s, as RewriteBase tells, and the patterns of "+
			"RewriteRule for what is below it", state.base)
	}
	for i := range state.rules {
		h.takeRule(&state.rules[i].directive, state.rules[i].conditions)
		if err := h.file.errs.tooMany(state.rules[i].at); err != nil {
			return err
		}
	}
	return nil
}

// takeRule takes in a RewriteRule with its conditions.
func (h *htaccessReader) takeRule(d *directive, conditions []rewriteCondition) {
	rule, refused := parseRewriteRule(d)
	tied := h.rewrite.tie.next(&rule)
	switch {
	case refused != nil && refused.kind == malformed:
		h.wrong(rule.at, "%s", refused.why)
		return
	case h.rewrite.isOff:
		h.drop(rule.at, "no request gets to this line, as RewriteEngine is off for the whole file, of "+
			"which the last one counts; remove it")
		return
	}
	if why := h.canonicalises(&rule, conditions); why != nil {
		h.refuse(rule.at, "", why.Error())
		return
	}
	rule.settle(h.reading.Hosts)
	switch {
	case rule.passes() && !rule.decides:
		h.passOver(d)
		return
	case rule.isFrontController():
		h.addFrontController(&rule, conditions, tied)
		return
	case rule.passes() && rule.isLast && tied == nil && areOfExistingFiles(conditions):
		h.rewrite.filesWin = true
		return
	}
	e, err := h.expressionOf(&rule)
	ways, errOfConditions := h.judge(conditions)
	if refused == nil {
		refused = rule.refused()
	}
	why := cmp.Or(errOfConditions, tied, errorOf(refused), err)
	if why != nil {
		h.refuseRule(&rule, e, why, len(conditions) > 0 || tied != nil)
		return
	}
	if e.wantsQuery() {
		h.drop(rule.at, noQuery)
		return
	}
	more, isMet := h.meetBarriers(&rule, e)
	if !isMet {
		h.addRule(&rule, e, append(ways, more...))
	}
}

// refuseRule refuses a rule. One that is no redirect keeps requests from those behind it.
func (h *htaccessReader) refuseRule(
	rule *rewriteRule, e *pathExpression, why error, hasConditions bool,
) {
	path := frontOfExpression(rule.pattern, h.rewrite.base)
	if e != nil {
		path = e.variants[0].path
	}
	switch {
	case rule.answer != rewrites || !rule.isLast:
	case rule.passes() && !hasConditions:
		h.addBarrier(rewriteBarrier{at: rule.at, paths: e.paths(), takes: takesMost})
	case rule.passes() || e != nil:
		h.addBarrier(rewriteBarrier{at: rule.at, paths: e.paths(), takes: takesSome})
	}
	h.refuse(rule.at, path, why.Error())
}

// errorOf returns why something is refused, or nil.
func errorOf(refused *refusal) error {
	if refused == nil {
		return nil
	}
	return refused.why
}

// expressionOf returns the pattern of a rule.
func (h *htaccessReader) expressionOf(rule *rewriteRule) (*pathExpression, error) {
	if strings.HasPrefix(rule.pattern, "!") {
		return nil, errors.New(
			"a rule takes no paths but certain ones; use Caddy's redir with not and a " +
				"path_regexp matcher")
	}
	options := expressionOptions{base: h.rewrite.base, folds: rule.folds}
	return options.parse(rule.pattern)
}

// parseRewriteRule takes a rule apart.
func parseRewriteRule(d *directive) (rule rewriteRule, refused *refusal) {
	words := rewriteWords(d)
	rule.at = d.at
	if len(words) < 2 || len(words) > 3 {
		return rule, &refusal{why: errors.New("a RewriteRule has a pattern, a destination and perhaps " +
			"flags; write: RewriteRule ^old$ /new [R=301,L]")}
	}
	rule.at.Column = words[0].column
	rule.pattern, rule.to = words[0].text, withLowerScheme(words[1].text)
	if len(words) == 2 {
		return rule, nil
	}
	flags, err := rewriteFlags(words[2].text)
	if err != nil {
		return rule, &refusal{why: err}
	}
	rule.decides = slices.ContainsFunc(flags, decides)
	for _, flag := range flags {
		if err := rule.setFlag(flag); err != nil && refused == nil {
			refused = &refusal{why: err, kind: unsupported}
		}
	}
	return rule, refused
}

// decides reports whether a flag has a say in how a request goes on that keeps its path. The others
// say what matches, or set a variable, a cookie or a type.
func decides(flag string) bool {
	name, _, _ := strings.Cut(flag, "=")
	return !slices.Contains([]string{"", "nc", "nocase", "ns", "nosubreq", "e", "env", "co", "cookie",
		"t", "type", "h", "handler"}, strings.ToLower(name))
}

// setFlag takes in a flag.
func (r *rewriteRule) setFlag(flag string) error {
	name, value, _ := strings.Cut(flag, "=")
	switch strings.ToLower(name) {
	case "r", "redirect":
		r.isRedirect = true
		return r.setStatus(value)
	case "l", "last", "end", "pt", "passthrough":
		r.isLast = true
	case "nc", "nocase":
		r.folds = true
	case "qsa", "qsappend":
		r.appendsQuery = true
	case "qsd", "qsdiscard":
		r.dropsQuery = true
	case "ne", "noescape":
		r.isLiteral = true
	case "g", "gone":
		r.answer, r.isLast = gone, true
	case "c", "chain":
		r.isChained = true
		return errors.New("a rule is not chained with the next one ([C]); use Caddy's redir with a " +
			"path_regexp matcher")
	case "s", "skip":
		r.skips, _ = strconv.Atoi(value)
		return errors.New("a rule skips none of those behind it ([S]); use Caddy's redir with a " +
			"path_regexp matcher")
	case "f", "forbidden":
		return errors.New("a rule does not forbid; use Caddy's respond with status 403 and a matcher")
	case "", "ns", "nosubreq", "dpi", "discardpath", "bnp", "qsl", "qslast":
	default:
		return errors.New("the flag " + quote(flag) +
			" has no equivalent; leave it out, or use Caddy's " +
			"redir with a path_regexp matcher")
	}
	return nil
}

// setStatus takes in the status of a redirect.
func (r *rewriteRule) setStatus(value string) error {
	if value == "" {
		return nil
	}
	status, ok := aliasStatus(value)
	switch {
	case ok && status == 410:
		r.answer = gone
	case ok && resolver.ValidStatus(status):
		r.status = status
	default:
		return errors.New("a rule has no status " + quote(value) +
			"; use Caddy's respond, or error and " +
			"handle_errors")
	}
	return nil
}

// settle finds out what a rule does that has no flag for it: a URL of another host is a redirect.
func (r *rewriteRule) settle(hosts []string) {
	for _, scheme := range []string{"http://", "https://"} {
		for _, host := range []string{"%{HTTP_HOST}", "%{SERVER_NAME}"} {
			if path, is := strings.CutPrefix(r.to, scheme+host); is && strings.HasPrefix(path+"/", "/") {
				r.to = "/" + strings.TrimPrefix(path, "/")
			}
			if path, is := strings.CutPrefix(r.to, scheme+host+"%{REQUEST_URI}"); is {
				r.to = "%{REQUEST_URI}" + path
			}
		}
	}
	if host, _, is := cutHost(r.to); is && !slices.Contains(hosts, strings.ToLower(host)) {
		r.isRedirect = true
	}
	if r.answer == leads && !r.isRedirect {
		r.answer = rewrites
	}
}

// isFrontController reports whether a rule leads all that are left to one program, or leaves that
// one alone.
func (r *rewriteRule) isFrontController() bool {
	if r.answer != rewrites {
		return false
	}
	return r.to != "-" && r.takesAll() || r.to == "-" && r.pattern == `^index\.php$`
}

// takesAll reports whether a pattern matches every path, or all but that of the root.
func (r *rewriteRule) takesAll() bool {
	return slices.Contains([]string{".", "^", "", ".*", ".+", "^.", "^.*$", "^.+$", "^(.*)$",
		"^(.+)$", "(.*)", "(.+)", "^.*", "^(.*)", "^/?(.*)$", "^/(.*)$", "^/(.*)"}, r.pattern)
}

// passes reports whether a rule leaves a request as it is.
func (r *rewriteRule) passes() bool { return r.answer == rewrites && r.to == "-" }

// refused says why no rule does what this one does.
func (r *rewriteRule) refused() *refusal {
	var why string
	switch {
	case schemePrefix.MatchString(r.to) && !isURL(r.to):
		why = "a destination is a path, or a URL of http or https; use Caddy's redir"
	case r.answer == rewrites && r.to == "-" && r.isLast:
	case r.answer == rewrites:
		why = "this is a rewrite, and no redirect; use Caddy's rewrite or try_files"
	case r.answer == gone:
	case r.to == "-":
		why = "this redirects to where a request is already; write a destination"
	case strings.Contains(strings.ReplaceAll(r.to, "%{REQUEST_URI}", ""), "%{"),
		strings.Contains(r.to, "${"):
		why = "a destination has no variables but those of its path; use Caddy's redir with placeholders"
	case conditionGroup.MatchString(r.to):
		why = "a destination has no parts of a condition (%1); use Caddy's redir with placeholders, " +
			"and write \\% for a percent sign"
	}
	if why == "" {
		return nil
	}
	return &refusal{why: errors.New(why)}
}

// schemePrefix is the scheme in front of a URL, with its colon.
var schemePrefix = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

// conditionGroup is what stands for a part of a condition.
var conditionGroup = regexp.MustCompile(`(^|[^\\])%[0-9]`)

// addRule takes in the lines of a rule.
func (h *htaccessReader) addRule(rule *rewriteRule, e *pathExpression, ways []string) {
	line := foreignLine{at: rule.at, answer: rule.answer}
	if rule.answer == leads {
		line.status = h.statusOr(rule.status)
		line.query = rule.query()
		h.remarkOnSlashOf(e, rule.to)
		h.rewrite.addsParameters = h.rewrite.addsParameters || line.query == resolver.QueryPreserve
	}
	isRelative := false
	lines, err := e.lines(line, func(v *pathVariant) (string, error) {
		to, ofVariant := rule.destination(v, h.rewrite.base)
		isRelative = isRelative || ofVariant
		return to, nil
	})
	if err != nil {
		h.refuse(rule.at, e.variants[0].path, err.Error())
		return
	}
	if rule.answer == leads && !rule.isLast {
		ways = append(ways,
			"the line has no L: there, RewriteRules behind it see the path that it leads to")
	}
	if isRelative && !h.rewrite.hasBase {
		ways = append(ways, "a destination without a \"/\" in front is a path of the file "+
			"system there, as there is no RewriteBase, and of the site here")
	}
	for _, how := range ways {
		h.approximate(rule.at, how)
	}
	if rule.passes() {
		h.addPassing(rule.at, e.paths())
	}
	h.hasRewrite = true
	h.addExpression(rule.at, e, lines)
}

// query returns what becomes of a request's query.
func (r *rewriteRule) query() resolver.QueryMode {
	hasOwn := strings.Contains(strings.TrimSuffix(r.to, "?"), "?")
	appends := r.appendsQuery && !r.dropsQuery
	switch {
	case hasOwn && appends:
		return resolver.QueryPreserve
	case hasOwn || appends:
		return resolver.QueryDefault
	case r.dropsQuery || strings.HasSuffix(r.to, "?"):
		return resolver.QueryIgnore
	}
	return resolver.QueryDefault
}

// destination returns where a path leads, and whether that depends on the base.
func (r *rewriteRule) destination(v *pathVariant, base string) (to string, isRelative bool) {
	to = strings.TrimSuffix(r.to, "?")
	if !r.isLiteral {
		to = escapedByApache.Replace(to)
	}
	to = strings.ReplaceAll(to, "%{REQUEST_URI}", inDestination(v.path))
	to = apacheDestination(v, to)
	if !isURL(to) && !strings.HasPrefix(to, "/") {
		return base + to, true
	}
	return to, false
}

// escapedByApache encodes what a destination does not mean as it is, but for what stands for
// something else.
var escapedByApache = strings.NewReplacer("%{", "%{", "#", "%23", `\%`, "%25", "%", "%25")

// judge says in which ways conditions make a difference, or why a rule with them has no equivalent.
func (h *htaccessReader) judge(conditions []rewriteCondition) (ways []string, err error) {
	isOfFiles := false
	for i := range conditions {
		c := &conditions[i]
		if slices.ContainsFunc(c.flags, func(f string) bool {
			return strings.EqualFold(f, "OR") || strings.EqualFold(f, "ornext")
		}) && !c.isOfHost() {
			return nil, c.refuse("one of several conditions is enough there")
		}
		switch {
		case c.isOfFile():
			isOfFiles = true
		case c.isOfHost():
			how, err := c.judgeHost(h.reading.Hosts)
			if err != nil {
				return nil, err
			}
			ways = append(ways, how...)
		default:
			return nil, c.refuse(c.remedy())
		}
	}
	if isOfFiles {
		ways = append(ways,
			"files that exist win there; here the rule does, unless shortlink has a matcher "+
				"\"not file\"")
	}
	return ways, nil
}

// isOfFile reports whether a condition asks that a file or a folder does not exist.
func (c *rewriteCondition) isOfFile() bool {
	return c.looksAtFile() && slices.Contains([]string{"!-f", "!-d", "!-l", "!-s"}, c.pattern)
}

// looksAtFile reports whether a condition is on the file of a request.
func (c *rewriteCondition) looksAtFile() bool {
	return slices.Contains([]string{"%{REQUEST_FILENAME}", "%{SCRIPT_FILENAME}",
		"%{DOCUMENT_ROOT}%{REQUEST_URI}", "%{DOCUMENT_ROOT}/%{REQUEST_URI}"}, c.test)
}

// areOfExistingFiles reports whether all conditions ask that a file or a folder exists.
func areOfExistingFiles(conditions []rewriteCondition) bool {
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c rewriteCondition) bool {
		return !c.looksAtFile() || !slices.Contains([]string{"-f", "-d", "-l", "-s"}, c.pattern)
	})
}

func (c *rewriteCondition) isOfHost() bool {
	return c.test == "%{HTTP_HOST}" || c.test == "%{SERVER_NAME}"
}

func (c *rewriteCondition) refuse(why string) error {
	return errors.New("the line has a condition at line " + strconv.Itoa(c.at.Line) + ", on " +
		quote(c.test) + ", and a rule looks at the path alone: " + why)
}

func (c rewriteCondition) isOfScheme() bool {
	return strings.HasPrefix(c.test, "%{HTTPS}") || c.test == "%{SERVER_PORT}" ||
		c.test == "%{REQUEST_SCHEME}" || strings.Contains(c.test, "X-Forwarded-Proto")
}

// remedy says what does what a condition does.
func (c *rewriteCondition) remedy() string {
	switch {
	case c.isOfScheme():
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

// judgeHost says whether a condition on the host holds for those of the site.
func (c *rewriteCondition) judgeHost(hosts []string) (ways []string, err error) {
	const remedy = "if it is this site's, name the host with --line-host; else use the rules in the " +
		"block of that host's site"
	pattern, isNegated := strings.CutPrefix(c.pattern, "!")
	matches, err := regexp.Compile("(?i)" + pattern)
	if exact, is := strings.CutPrefix(pattern, "="); is {
		matches, err = regexp.Compile("(?i)^" + regexp.QuoteMeta(exact) + "$")
	}
	if err != nil {
		return nil, c.refuse("the pattern has no equivalent; " + remedy)
	}
	n := 0
	for _, host := range hosts {
		if matches.MatchString(host) != isNegated {
			n++
		}
	}
	switch n {
	case 0:
		return nil, c.refuse(remedy)
	case len(hosts):
		return nil, nil
	}
	return []string{"the line is for some of the site's hosts there, and here for all"}, nil
}
