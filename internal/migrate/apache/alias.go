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

// Directives of mod_alias. Redirect matches a path and all paths below it, and appends the rest as
// it is. RedirectMatch matches a regular expression.

// alias is a parsed directive of mod_alias. Its line still lacks path and destination.
type alias struct {
	redirects.Line
	from, to  string
	isPattern bool
}

// convertAlias handles a directive of mod_alias.
func (h *reader) convertAlias(d *directive) {
	words, err := configWords.Split(d.line, d.end)
	if err != nil {
		h.Wrong(d.at, "%s", err)
		return
	}
	a := alias{isPattern: d.name == "redirectmatch"}
	a.At, a.IsLater = d.at, true
	switch err := a.parse(d.name, words); {
	case err != nil:
		h.Wrong(a.At, "%s", err)
	case a.Refused != nil:
		h.RefuseLine(a.Line, a.front(), a.Refused)
	case a.isPattern:
		h.addMatch(&a)
	default:
		h.addRedirect(&a)
	}
}

// configWords splits words like Apache: a backslash can escape a quotation mark or a backslash.
var configWords = migrate.Splitter{Unescape: func(c, quote byte) (string, bool) {
	return string(c), c == '\\' || c == quote
}}

// parse parses the words of a directive. It returns an error for what Apache would reject, too.
func (a *alias) parse(name string, words []migrate.Word) error {
	status := map[string]int{"redirectpermanent": 301, "redirecttemp": 302}[name]
	if status == 0 && len(words) > 1 {
		var err error
		if status, err = statusOf(words[0].Text); err == nil {
			words = words[1:]
		} else if len(words) > 2 {
			return err
		}
	}
	if len(words) == 0 || len(words) > 2 {
		return errors.New("a redirect has a path and a destination; write: Redirect 301 /path " +
			"https://www.example.com/path")
	}
	a.At.Column, a.from = words[0].Column, words[0].Text
	a.Answer, a.Status, a.Refused = answerOf(status)
	switch isGone := a.Answer == redirects.Gone; {
	case a.Refused != nil:
	case isGone && len(words) == 2:
		return errors.New("a redirect with gone has no destination; remove " +
			printable.Quote(words[1].Text))
	case isGone:
	case len(words) == 1:
		return errors.New("the directive has no destination; write a URL, or a path that begins " +
			"with \"/\"")
	default:
		a.to = withLowerScheme(words[1].Text)
	}
	return nil
}

// statusOf returns the status of a word.
func statusOf(word string) (status int, err error) {
	names := map[string]int{"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}
	status, isName := names[strings.ToLower(word)]
	if isName {
		return status, nil
	}
	if status, err = strconv.Atoi(word); err != nil {
		err = errors.New(printable.Quote(word) + " is not a status; write permanent, temp, seeother, " +
			"gone or a number")
	}
	return status, err
}

// answerOf returns the answer of a line with a status, where 0 means none. The error explains why
// no rule can have the status.
func answerOf(code int) (answer redirects.Answer, status int, err error) {
	switch {
	case code == 410:
		return redirects.Gone, 0, nil
	case code != 0 && !resolver.ValidStatus(code):
		return redirects.Leads, 0, migrate.StatusError(code)
	}
	return redirects.Leads, code, nil
}

// front returns a prefix of the paths that a refused directive matches, or nil.
func (a *alias) front() []redirects.Segment {
	switch {
	case a.isPattern:
		return pathexpr.Front(a.from, "/")
	case strings.HasPrefix(a.from, "/"):
		return redirects.Below(a.path())
	}
	return nil
}

// path returns the path of a Redirect. Apache merges slashes both in this path and in the
// request's.
func (a *alias) path() []redirects.Segment {
	return redirects.Text(redirects.Encoded(slashes.ReplaceAllString(a.from, "/")))
}

var slashes = regexp.MustCompile(`//+`)

// addRedirect adds the lines of a Redirect.
func (h *reader) addRedirect(a *alias) {
	from, to := a.from, a.to
	isGone := a.Answer == redirects.Gone
	isDirectory, toDirectory := strings.HasSuffix(from, "/"), strings.HasSuffix(to, "/")
	a.Path, a.IsPrefix = redirects.Below(a.path()), true
	inDestination, alone := migrate.CheckDestination(to), ""
	switch {
	case !strings.HasPrefix(from, "/"):
		h.Wrong(a.At, "%s is not a path; write one that begins with \"/\"", printable.Quote(from))
		return
	case inDestination != nil && !isGone:
		h.Wrong(a.At, "%s", inDestination)
		return
	case strings.Contains(from, "?"):
		h.Drop(a.At, noQuery)
		return
	case isGone:
	case strings.ContainsAny(to, "?#"):
		alone = "there, the rest of a path is appended to the destination's query or fragment"
	case isDirectory && toDirectory:
		a.To, a.NeedsSlash = redirects.WithRest(to), true
	case from == "/":
		a.Refused = errors.New("there, the rest of a path follows the destination without a \"/\"; " +
			"write " + to + "/")
	case isDirectory:
		alone = "there, the rest of a path follows the destination without a \"/\""
	default:
		a.To, a.Itself = redirects.WithRest(strings.TrimSuffix(to, "/")+"/"), redirects.Literal(to)
	}
	if alone != "" {
		a.Path, a.To = a.path(), redirects.Literal(to)
		h.Approximate(a.At, alone+"; here the rule matches the path alone")
	}
	h.Add(a.Line)
}

// noQuery is the reason for leaving out a line with a query in its path.
const noQuery = "no request reaches this line: a path has no \"?\"; use " +
	"Caddy's redir with a query matcher"

// withLowerScheme returns a destination with its URL scheme in lower case.
func withLowerScheme(to string) string {
	scheme, rest, found := strings.Cut(to, "://")
	if lower := strings.ToLower(scheme) + "://" + rest; found && migrate.IsURL(lower) {
		return lower
	}
	return to
}

// addMatch adds the lines of a RedirectMatch.
func (h *reader) addMatch(a *alias) {
	e, err := pathexpr.Parse(a.from, pathexpr.Options{Loosely: h.Loosely})
	switch {
	case err != nil:
		a.To = redirects.Literal(a.to)
		h.RefuseLine(a.Line, a.front(), err)
	case wantsQuery(e):
		h.Drop(a.At, noQuery)
	default:
		h.AddPaths(a.Line, e, func(p *pathexpr.Path) ([]redirects.Piece, error) {
			to, err := substitute(e, p, percentEncodedPath(a.to))
			return to, cmp.Or(err, migrate.CheckPieces(to))
		})
	}
}

// percentEncodedPath encodes the percent signs in the path of a RedirectMatch destination. Apache
// encodes that path as a whole, too.
func percentEncodedPath(to string) string {
	end := strings.IndexAny(to+"?", "?#")
	return strings.ReplaceAll(to[:end], "%", "%25") + to[end:]
}
