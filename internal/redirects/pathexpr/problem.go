package pathexpr

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// Remedy is the advice of messages about anything without an equivalent.
const Remedy = "write a rule for each path, or use Caddy's redir with a path_regexp " +
	"matcher"

// ErrQuery is the error of anything that matches only paths with a query.
var ErrQuery = errors.New("a rule has no query, because only the path selects it; use Caddy's " +
	"redir with a query matcher")

var (
	errNoBegin = errors.New("the regular expression matches anywhere within a path; begin it with " +
		"\"^\", or use Caddy's redir with a path_regexp matcher")
	errLongExpression = errors.New("the regular expression has more than 8192 bytes or 64 groups; " +
		Remedy)
	errTooManyPaths = errors.New("the regular expression matches more than 64 paths; " + Remedy)
	errBehindRest   = errors.New(
		"\".*\" may only be at the end, but text follows it; write [^/]+ " +
			"if one segment is meant, or " + Remedy)
	// errEverySlash names no expression that matches /\host/, because browsers read \ as a slash.
	errEverySlash = errors.New("a rule does not remove the slash at the end of every path; write in " +
		`the Caddyfile: @slash path_regexp ^/(\w.*)/$, and redir @slash ` +
		"/{re.1}{http.request.uri.prefixed_query} 301")
	errLazy = errors.New("in the regular expression, a lazy group with something after it is " +
		"ambiguous; write [^/]+ for a segment, or $ at the end")
)

// everySlash matches expressions for all paths with a slash at their end.
var everySlash = regexp.MustCompile(`^\^/?\(?\.[*+]\)?/\+?\$$`)

// unreadable returns why a regular expression cannot be parsed.
func unreadable(err error) error {
	wrong, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	what := map[syntax.ErrorCode]string{
		syntax.ErrInvalidPerlOp: "has no equivalent: rules have no conditions around a path",
		syntax.ErrInvalidEscape: "is an escape without an equivalent",
	}[wrong.Code]
	if what == "" {
		what = "is not well-formed: " + wrong.Code.String()
	}
	return errors.New("in the regular expression, " + quote(wrong.Expr) + " " + what + "; " +
		Remedy)
}

// refuse returns the error of a part of an expression without an equivalent.
func (b *builder) refuse(e *syntax.Regexp) error {
	instead := Remedy
	if e.Op == syntax.OpRepeat {
		instead = "write [^/]+ or --loosely if any segment is meant, or " + instead
	}
	return errors.New(b.quote(e) + " has no equivalent; " + instead)
}

// quote quotes a part of the expression, or all of it if the part is spelled differently there.
func (b *builder) quote(e *syntax.Regexp) string {
	for _, part := range []string{e.String(), asWritten.Replace(e.String())} {
		if strings.Contains(b.written, part) {
			return "in the regular expression, " + quote(part)
		}
	}
	return "the regular expression " + quote(b.written)
}

// asWritten rewrites the output of [syntax.Regexp.String] to the usual spelling.
var asWritten = strings.NewReplacer("[0-9]", `\d`, "[^0-9]", `\D`, "[0-9A-Z_a-z]", `\w`,
	"(?-s:.)", ".", "(?-s:.+)", ".+", "(?-s:.*)", ".*", `[^\./]`, "[^/.]")

// quote quotes an expression without escaping backslashes, shortened if it is long.
func quote(text string) string {
	return strings.ReplaceAll(printable.Quote(text), `\\`, `\`)
}
