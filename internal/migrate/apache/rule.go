package apache

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// rewriteRule is a parsed RewriteRule. Its line still lacks path and destination. The line passes
// for a rewrite to another path, too. It is refused for a flag without an equivalent.
type rewriteRule struct {
	redirects.Line
	pattern, to string
	// written is the destination with the directory and $0 instead of the request's path.
	written string
	// The flags.
	isRedirect, isLast, folds, appendsQuery, dropsQuery, isLiteral bool
	// decides reports whether the rule keeps the path but affects how the request is handled.
	decides bool
	// ties reports whether following rules depend on this one, which is chained or skips some.
	ties bool
}

// parseRule parses a rule. It returns an error for what Apache would reject, too.
func (h *reader) parseRule(d *directive) (*rewriteRule, error) {
	rule := &rewriteRule{Line: redirects.Line{At: d.at}}
	words, _ := rewriteWords.Split(d.line, d.end)
	if len(words) < 2 || len(words) > 3 {
		return rule, errors.New("a RewriteRule has a pattern, a destination and perhaps flags; write: " +
			"RewriteRule ^old$ /new [R=301,L]")
	}
	rule.At.Column = words[0].Column
	rule.pattern, rule.to = words[0].Text, withLowerScheme(words[1].Text)
	if len(words) == 3 {
		flags := inBrackets.FindStringSubmatch(words[2].Text)
		if flags == nil {
			return rule, errors.New("the flags stand in brackets, without white space, and are not " +
				printable.Quote(words[2].Text) + "; write them like [R=301,L]")
		}
		for flag := range strings.SplitSeq(strings.ReplaceAll(flags[1], " ", ""), ",") {
			rule.Refused = cmp.Or(rule.Refused, rule.setFlag(flag))
		}
	}
	if ownHost.MatchString(rule.to) {
		rule.to = cmp.Or(ownHost.ReplaceAllString(rule.to, "$rest"), "/")
	}
	host, _, isURL := redirects.CutURL(rule.to)
	isRedirect := rule.isRedirect || isURL && !h.HasHost(host)
	if rule.Answer == redirects.Leads && !isRedirect {
		rule.Answer = redirects.Passes
	}
	rule.setDestination(h.rewrite.directory)
	return rule, nil
}

// inBrackets matches the flags of a rule. ownHost matches a destination on the request's host.
var (
	inBrackets = regexp.MustCompile(`^\[(.*)\]$`)
	ownHost    = regexp.MustCompile(`^(https?|%\{(ENV:\w+|REQUEST_SCHEME|HTTP:X-Forwarded-Proto)\})` +
		`://%\{(HTTP_HOST|SERVER_NAME)\}(?P<rest>/|%\{REQUEST_URI\}|$)`)
)

// setFlag applies a flag. The error explains why a flag has no equivalent.
func (r *rewriteRule) setFlag(flag string) (err error) {
	name, value, _ := strings.Cut(flag, "=")
	decides := true
	switch strings.ToLower(name) {
	case "r", "redirect":
		var answer redirects.Answer
		r.isRedirect = true
		answer, r.Status, err = answerOf(value)
		r.Answer = max(r.Answer, answer)
	case "l", "last", "end", "pt", "passthrough":
		r.isLast = true
	case "nc", "nocase":
		r.folds, decides = true, false
	case "qsa", "qsappend":
		r.appendsQuery = true
	case "qsd", "qsdiscard":
		r.dropsQuery = true
	case "ne", "noescape":
		r.isLiteral = true
	case "g", "gone":
		r.Answer, r.isLast = redirects.Gone, true
	case "f", "forbidden":
		err = errors.New("a rule cannot forbid a path; use Caddy's respond with status 403 and a matcher")
	case "", "ns", "nosubreq":
		decides = false
	case "dpi", "discardpath", "bnp", "qsl", "qslast":
	case "c", "chain", "s", "skip":
		r.ties = true
		err = errors.New("a rule does not affect later ones ([" + flag + "]); use Caddy's redir with a " +
			"path_regexp matcher")
	case "e", "env", "co", "cookie", "t", "type", "h", "handler":
		decides = false
		fallthrough
	default:
		err = errors.New("the flag " + printable.Quote(flag) + " has no equivalent; leave it out, or " +
			"use Caddy's redir with a path_regexp matcher")
	}
	r.decides = r.decides || decides
	return err
}

// setDestination sets the written destination, and how the rule treats the request's query.
func (r *rewriteRule) setDestination(directory string) {
	to, dropsQuery := strings.CutSuffix(r.to, "?")
	hasQuery, appends := strings.Contains(to, "?"), r.appendsQuery && !r.dropsQuery
	switch {
	case r.Answer != redirects.Leads:
	case hasQuery && appends:
		r.Query = resolver.QueryPreserve
	case !hasQuery && !appends && (r.dropsQuery || dropsQuery):
		r.Query = resolver.QueryIgnore
	}
	if !r.isLiteral {
		to = escapedByApache.Replace(to)
	}
	r.written = strings.ReplaceAll(to, requestPath, literal.Replace(directory)+"$0")
}

// requestPath is the variable for the request's path in a destination.
const requestPath = "%{REQUEST_URI}"

// escapedByApache encodes the literal characters of a destination. literal escapes a text so that
// it stands for itself.
var (
	escapedByApache = strings.NewReplacer("%{", "%{", "#", "%23", `\%`, "%25", "%", "%25")
	literal         = strings.NewReplacer(`\`, `\\`, "$", `\$`)
)

// isFront reports whether a rule leads all remaining requests to one program, or excludes that
// program's own file.
func (r *rewriteRule) isFront() bool {
	return r.Answer == redirects.Passes && (r.to != "-" && everyPath.MatchString(r.pattern) ||
		r.to == "-" && r.pattern == `^index\.php$`)
}

// everyPath matches patterns that match every path, such as ^(.*)$.
var everyPath = regexp.MustCompile(`^(\^?\.?|(\^(/\??)?)?(\.[*+]|\(\.[*+]\))\$?)$`)

// passes reports whether a rule leaves a request unchanged.
func (r *rewriteRule) passes() bool { return r.Answer == redirects.Passes && r.to == "-" }

// refusal explains why a RewriteRule has no equivalent rule.
func (r *rewriteRule) refusal() error {
	why := ""
	switch {
	case r.Refused != nil:
		return r.Refused
	case strings.HasPrefix(r.pattern, "!"):
		why = "a rule cannot match all paths except some; use Caddy's redir with not and a path_regexp " +
			"matcher"
	case anyScheme.MatchString(r.to) && !redirects.IsURL(r.to):
		why = "a destination is a path, or a URL of http or https; use Caddy's redir"
	case r.passes() && r.isLast, r.Answer == redirects.Gone:
		return nil
	case r.Answer == redirects.Passes:
		why = "this is a rewrite, not a redirect; use Caddy's rewrite or try_files"
	case r.to == "-":
		why = "the destination is the request itself; write another"
	case variable.MatchString(strings.ReplaceAll(r.to, requestPath, "")):
		why = "a destination has no variables except those of its path, and cannot use parts of a " +
			"condition (%1); use Caddy's redir with placeholders, and write \\% for a percent sign"
	default:
		return nil
	}
	return errors.New(why)
}

// anyScheme matches the scheme of a URL. variable matches a variable, or a part of a condition.
var (
	anyScheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	variable  = regexp.MustCompile(`[%$]\{|(^|[^\\])%[0-9]`)
)
