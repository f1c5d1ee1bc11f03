package apache

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// rewriteRule is a parsed RewriteRule.
type rewriteRule struct {
	at          resolver.Position
	pattern, to string
	answer      redirects.Answer // Passes for a rewrite to another path, too
	status      int              // 0 for none
	// The flags.
	isRedirect, isLast, folds, appendsQuery, dropsQuery, isLiteral bool
	// decides reports whether the rule keeps the path but affects how the request is handled.
	decides bool
	// ties counts the following rules that depend on this one. It is chained with the next, or
	// skips some.
	ties int
	// unknown is the error for a flag without an equivalent.
	unknown error
}

// parseRule parses a rule. It returns an error for what Apache would reject, too.
func parseRule(d *directive) (rule rewriteRule, err error) {
	words, _ := rewriteWords.Split(d.line, d.end)
	rule.at = d.at
	if len(words) < 2 || len(words) > 3 {
		return rule, errors.New("a RewriteRule has a pattern, a destination and perhaps flags; write: " +
			"RewriteRule ^old$ /new [R=301,L]")
	}
	rule.at.Column = words[0].Column
	rule.pattern, rule.to = words[0].Text, withLowerScheme(words[1].Text)
	if len(words) == 2 {
		return rule, nil
	}
	flags, err := splitFlags(words[2].Text)
	if err != nil {
		return rule, err
	}
	for _, flag := range flags {
		if err := rule.setFlag(flag); err != nil && rule.unknown == nil {
			rule.unknown = err
		}
	}
	return rule, nil
}

// splitFlags returns the flags between the brackets.
func splitFlags(text string) ([]string, error) {
	inside, isOpen := strings.CutPrefix(text, "[")
	inside, isClosed := strings.CutSuffix(inside, "]")
	if !isOpen || !isClosed {
		return nil, errors.New("the flags stand in brackets, without white space, and are not " +
			printable.Quote(text) + "; write them like [R=301,L]")
	}
	return strings.Split(strings.ReplaceAll(inside, " ", ""), ","), nil
}

// setFlag applies a flag. The error explains why a flag has no equivalent.
func (r *rewriteRule) setFlag(flag string) (err error) {
	name, value, _ := strings.Cut(flag, "=")
	decides := true
	switch strings.ToLower(name) {
	case "r", "redirect":
		r.isRedirect = true
		err = r.setStatus(value)
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
		r.answer, r.isLast = redirects.Gone, true
	case "f", "forbidden":
		err = errors.New("a rule cannot forbid a path; use Caddy's respond with status 403 and a matcher")
	case "", "ns", "nosubreq":
		decides = false
	case "dpi", "discardpath", "bnp", "qsl", "qslast":
	case "c", "chain":
		value = "1"
		fallthrough
	case "s", "skip":
		n, _ := strconv.Atoi(value)
		r.ties = max(r.ties, n)
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

// setStatus applies the status of a redirect.
func (r *rewriteRule) setStatus(value string) error {
	code, err := statusOf(cmp.Or(value, "0"))
	if err != nil {
		return err
	}
	answer, status, err := answerOf(code)
	r.answer, r.status = max(r.answer, answer), cmp.Or(status, r.status)
	return err
}

// applyDefaults decides what a rule does without a flag: a URL of another host is a redirect.
func (r *rewriteRule) applyDefaults(h *reader) {
	if own := ownHost.FindString(r.to); own != "" {
		path := r.to[len(own):]
		if strings.HasPrefix(path, requestPath) {
			r.to = path
		} else if path == "" || path[0] == '/' {
			r.to = "/" + strings.TrimPrefix(path, "/")
		}
	}
	if host, _, is := migrate.CutURL(r.to); is && !h.HasHost(host) {
		r.isRedirect = true
	}
	if r.answer == redirects.Leads && !r.isRedirect {
		r.answer = redirects.Passes
	}
}

// requestPath is the variable for the request's path in a destination. ownHost matches the variable
// for its host.
const requestPath = "%{REQUEST_URI}"

var ownHost = regexp.MustCompile(
	`^(https?|%\{(ENV:\w+|REQUEST_SCHEME|HTTP:X-Forwarded-Proto)\})://%\{(HTTP_HOST|SERVER_NAME)\}`)

// isFront reports whether a rule leads all remaining requests to one program, or excludes that
// program's own file.
func (r *rewriteRule) isFront() bool {
	return r.answer == redirects.Passes && (r.to != "-" && everyPath.MatchString(r.pattern) ||
		r.to == "-" && r.pattern == `^index\.php$`)
}

// everyPath matches patterns that match every path, such as ^(.*)$.
var everyPath = regexp.MustCompile(`^(\^?\.?|(\^(/\??)?)?(\.[*+]|\(\.[*+]\))\$?)$`)

// passes reports whether a rule leaves a request unchanged.
func (r *rewriteRule) passes() bool { return r.answer == redirects.Passes && r.to == "-" }

// refusal explains why a RewriteRule has no equivalent rule.
func (r *rewriteRule) refusal() error {
	why := ""
	switch {
	case r.unknown != nil:
		return r.unknown
	case schemePrefix.MatchString(r.to) && !migrate.IsURL(r.to):
		why = "a destination is a path, or a URL of http or https; use Caddy's redir"
	case r.passes() && r.isLast, r.answer == redirects.Gone:
		return nil
	case r.answer == redirects.Passes:
		why = "this is a rewrite, not a redirect; use Caddy's rewrite or try_files"
	case r.to == "-":
		why = "the destination is the request itself; write another"
	case strings.Contains(strings.ReplaceAll(r.to, requestPath, ""), "%{"),
		strings.Contains(r.to, "${"):
		why = "a destination has no variables except those of its path; use Caddy's redir with " +
			"placeholders"
	case conditionGroup.MatchString(r.to):
		why = "a destination cannot use parts of a condition (%1); use Caddy's redir with " +
			"placeholders, and write \\% for a percent sign"
	default:
		return nil
	}
	return errors.New(why)
}

// schemePrefix matches the scheme of a URL with its colon. conditionGroup matches a reference to a
// part of a condition.
var (
	schemePrefix   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	conditionGroup = regexp.MustCompile(`(^|[^\\])%[0-9]`)
)

// expression returns the pattern of a rule.
func (r *rewriteRule) expression(base string, loosely bool) (*pathexpr.Expression, error) {
	if strings.HasPrefix(r.pattern, "!") {
		return nil, errors.New("a rule cannot match all paths except some; use Caddy's redir with not " +
			"and a path_regexp matcher")
	}
	return pathexpr.Parse(r.pattern, pathexpr.Options{Base: base, Folds: r.folds, Loosely: loosely})
}

// query returns how the rule treats the request's query.
func (r *rewriteRule) query() resolver.QueryMode {
	hasOwn := strings.Contains(strings.TrimSuffix(r.to, "?"), "?")
	appends := r.appendsQuery && !r.dropsQuery
	switch {
	case hasOwn && appends:
		return resolver.QueryPreserve
	case !hasOwn && !appends && (r.dropsQuery || strings.HasSuffix(r.to, "?")):
		return resolver.QueryIgnore
	}
	return resolver.QueryDefault
}

// written returns the destination as written, but with the directory and $0 instead of the
// request's path.
func (r *rewriteRule) written(directory string) string {
	to := strings.TrimSuffix(r.to, "?")
	if !r.isLiteral {
		to = escapedByApache.Replace(to)
	}
	return strings.ReplaceAll(to, requestPath, literal.Replace(directory)+"$0")
}

// escapedByApache encodes the literal characters of a destination. literal escapes a text so that
// it stands for itself.
var (
	escapedByApache = strings.NewReplacer("%{", "%{", "#", "%23", `\%`, "%25", "%", "%25")
	literal         = strings.NewReplacer(`\`, `\\`, "$", `\$`)
)
