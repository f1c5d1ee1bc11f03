package pathexpr

import (
	"errors"
	"regexp/syntax"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// Remedy is what the messages advise for what has no equivalent.
const Remedy = "write a rule for each path, or use Caddy's redir with a path_regexp " +
	"matcher"

// ErrQuery is why what matches a path with a query alone has no equivalent.
var ErrQuery = errors.New("a rule has no query, as it is found by the path alone; use Caddy's " +
	"redir with a query matcher")

var (
	errNoBegin = errors.New("the regular expression matches anywhere within a path; begin it with " +
		"\"^\", or use Caddy's redir with a path_regexp matcher")
	errLongExpression = errors.New("the regular expression has more than 8192 bytes or 64 groups; " +
		Remedy)
	errTooManyPaths = errors.New("the regular expression stands for more than 64 paths; " + Remedy)
	errBehindRest   = errors.New(
		"\".*\" has text behind it, and may only stand at the end; write [^/]+ " +
			"if one segment is meant, or " + Remedy)
	errLazy = errors.New("in the regular expression, nothing settles what is taken as a whole where " +
		"something follows that takes as little as it can; write [^/]+ for a segment, or $ at the end")
)

// unreadable says why a regular expression cannot be read.
func unreadable(err error) error {
	wrong, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	what := map[syntax.ErrorCode]string{
		syntax.ErrInvalidPerlOp: "has no equivalent, as what a path must not or should have around it",
		syntax.ErrInvalidEscape: "is an escape without an equivalent",
	}[wrong.Code]
	if what == "" {
		what = "is not well-formed: " + wrong.Code.String()
	}
	return errors.New("in the regular expression, " + quote(wrong.Expr) + " " + what + "; " +
		Remedy)
}

// refuse says that a part of an expression has no equivalent.
func (b *builder) refuse(e *syntax.Regexp) error {
	instead := Remedy
	if e.Op == syntax.OpRepeat {
		instead = "write [^/]+ if any segment is meant, or " + instead
	}
	return errors.New(b.quote(e) + " has no equivalent; " + instead)
}

// quote quotes a part of the expression, or all of it where the part is written in another way.
func (b *builder) quote(e *syntax.Regexp) string {
	for _, part := range []string{e.String(), asWritten.Replace(e.String())} {
		if strings.Contains(b.written, part) {
			return "in the regular expression, " + quote(part)
		}
	}
	return "the regular expression " + quote(b.written)
}

// asWritten writes what [syntax.Regexp.String] spells out as most people do.
var asWritten = strings.NewReplacer("[0-9]", `\d`, "[^0-9]", `\D`, "[0-9A-Z_a-z]", `\w`,
	"(?-s:.)", ".", "(?-s:.+)", ".+", "(?-s:.*)", ".*", `[^\./]`, "[^/.]")

// quote quotes an expression with its backslashes as they are, and of a long one its beginning.
func quote(text string) string {
	return strings.ReplaceAll(printable.Quote(text), `\\`, `\`)
}
