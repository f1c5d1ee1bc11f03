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
	rules           []*directive
	tied            error // of rules after one that is chained with them, or skips them
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
		state.conditions = append(state.conditions, newCondition(d.at.Line, words))
	case d.name == "rewritecond":
		h.Wrong(d.at, "a RewriteCond has a test string and a pattern; write, for example: RewriteCond "+
			"%%{REQUEST_FILENAME} !-f")
	case d.name == "rewritebase" && strings.HasPrefix(first, "/"):
		state.base = redirects.Encoded(strings.TrimSuffix(first, "/") + "/")
		state.hasBase = true
	case d.name == "rewritebase":
		h.Wrong(d.at, "a RewriteBase begins with \"/\", and is not %s", printable.Quote(first))
	default: // RewriteOptions, RewriteMap, RewriteLock, RewriteLog
		h.said.skip(d.written)
	}
}

// rewriteWords splits words like mod_rewrite: a backslash before white space joins the word, and
// stays in it.
var rewriteWords = migrate.Splitter{EndsQuotes: true, Unescape: func(c, _ byte) (string, bool) {
	return `\` + string(c), strings.IndexByte(migrate.Space, c) >= 0
}}

// convertRule handles a RewriteRule with its conditions.
func (h *reader) convertRule(d *directive) {
	rule, err := h.parseRule(d)
	tied := h.rewrite.tied
	if rule.ties {
		h.rewrite.tied = cmp.Or(tied, fmt.Errorf("the line at %s is chained with later ones ([C]), or "+
			"skips some ([S]); use Caddy's redir with a path_regexp matcher", rule.At))
	}
	if err != nil {
		h.Wrong(rule.At, "%s", err)
		return
	}
	if h.isOmitted(rule, d, tied != nil) {
		return
	}
	e, inPattern := pathexpr.Parse(rule.pattern,
		pathexpr.Options{Base: h.rewrite.directory, Folds: rule.folds, Loosely: h.Loosely})
	ways, inConditions := judgeAll(d.conditions, h.Reading.Hosts)
	hostError := h.hostError(rule, e, d.conditions, inConditions)
	why := cmp.Or(inConditions, tied, rule.refusal(), inPattern)
	if inConditions != nil && cmp.Or(tied, rule.refusal()) == nil {
		why = h.elsewhere(rule, d.conditions, why)
	}
	switch {
	case hostError != nil:
		h.Refuse(rule.At, nil, hostError)
	case why != nil:
		h.refuseRule(rule, e, ways, why)
	case wantsQuery(rule.pattern):
		h.Refuse(rule.At, nil, pathexpr.ErrQuery)
	default:
		h.addRule(rule, e, ways)
	}
}

// isOmitted reports whether a RewriteRule makes no rule and takes no request from later ones, and
// records why.
func (h *reader) isOmitted(rule *rewriteRule, d *directive, isTied bool) bool {
	switch {
	case h.rewrite.isOff:
		h.Drop(rule.At, "no request reaches this line: the last RewriteEngine of the file is off; "+
			"remove the line")
	case rule.passes() && !rule.decides:
		h.said.skip(d.written)
	case rule.isFront():
		h.said.hasFront = true
		if !rule.passes() {
			h.said.decide(rule.At.Line)
		}
	case rule.passes() && rule.isLast && !isTied && areOfExistingFiles(d.conditions):
		h.said.letsFilesPass = true
	default:
		return false
	}
	return true
}

// areOfExistingFiles reports whether all conditions require an existing file or folder.
func areOfExistingFiles(conditions []condition) bool {
	isOther := func(c condition) bool { return !c.isOfFile() || c.isNegated }
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, isOther)
}

// elsewhere returns the reason of a rule that Caddy's redir can express: one for a single path and
// an Accept header, which no line before it may take.
func (h *reader) elsewhere(rule *rewriteRule, conditions []condition, why error) error {
	path, c := onePath.FindStringSubmatch(rule.pattern), conditions[0]
	if path == nil || len(conditions) > 1 || c.test != "%{HTTP_ACCEPT}" || c.isNegated ||
		h.said.ruleLine+h.said.decidingLine > 0 {
		return why
	}
	url := h.rewrite.directory + strings.ReplaceAll(path[1], `\`, "")
	return &redirects.Elsewhere{Err: why, URL: url, Accept: c.pattern}
}

// onePath matches patterns of a single path.
var onePath = regexp.MustCompile(`^\^/?((?:[\w/-]|\\[.+-])*)\$$`)

// refuseRule refuses a rule. A refused rule that is not a redirect can affect the rules after it.
func (h *reader) refuseRule(
	rule *rewriteRule, e *pathexpr.Expression, ways []string, why error,
) {
	if rule.Answer == redirects.Passes {
		h.said.decide(rule.At.Line)
	}
	path := pathexpr.Front(rule.pattern, h.rewrite.directory)
	if e != nil {
		path = e.Paths[0].Segments
	}
	rule.Notes, rule.To = ways, redirects.Literal(rule.written)
	h.RefuseLine(rule.Line, path, why)
}

// addRule adds the lines of a rule.
func (h *reader) addRule(rule *rewriteRule, e *pathexpr.Expression, ways []string) {
	isRelative := false
	isAdded := h.AddPaths(rule.Line, e, func(p *pathexpr.Path) ([]redirects.Piece, error) {
		to, err := substitute(e, p, rule.written)
		if err == nil && migrate.CheckPieces(to) != nil {
			isRelative = true
			to, err = substitute(e, p, literal.Replace(h.rewrite.base)+rule.written)
		}
		return to, err
	})
	if !isAdded {
		return
	}
	if rule.Answer == redirects.Leads && !rule.isLast {
		ways = append(ways,
			"the line has no L: there, later RewriteRules match the path that it leads to")
	}
	if isRelative && !h.rewrite.hasBase {
		ways = append(ways, "without a RewriteBase, Apache reads a destination without a leading \"/\" "+
			"as a file; here it is a path of the site")
	}
	if rule.passes() && len(h.aliases) > 0 {
		ways = append(ways, "requests that pass here can still match a Redirect or RedirectMatch there, "+
			"but not here; write these as RewriteRules before it")
	}
	for _, how := range ways {
		h.Approximate(rule.At, how)
	}
	h.said.ruleLine = rule.At.Line
	h.said.hasQSA = h.said.hasQSA || rule.Query == resolver.QueryPreserve
}

// hostError returns an error for a rule that leads one host to another. On a site with both hosts,
// the second would redirect to itself.
func (h *reader) hostError(
	rule *rewriteRule, e *pathexpr.Expression, conditions []condition, inConditions error,
) error {
	if e == nil || !redirects.IsURL(rule.to) {
		return nil
	}
	p := &e.Paths[0]
	to, _ := substitute(e, p, rule.written)
	itself, _ := substitute(e, p, literal.Replace(h.rewrite.directory)+"$0")
	front, isSame := strings.CutSuffix(to[0].Text, itself[0].Text)
	host, _, _ := redirects.CutURL(front)
	hasHost := slices.ContainsFunc(conditions, func(c condition) bool { return c.isOfHost() })
	isOwn := h.HasHost(host) && inConditions == nil
	if !isSame || !slices.Equal(to[1:], itself[1:]) || !isOwn && !hasHost ||
		strings.Contains(host, "%") {
		return nil
	}
	return fmt.Errorf("this leads one host to the same paths of another, and rules have no host; "+
		"write a site block for the host, with: redir %s{uri} %d", front,
		cmp.Or(rule.Status, h.Status))
}
