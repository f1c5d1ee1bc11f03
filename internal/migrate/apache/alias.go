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

// What mod_alias has: Redirect takes a path and all below it, and appends the rest as it is;
// RedirectMatch a regular expression.

// aliasLine is a directive of mod_alias taken apart.
type aliasLine struct {
	from      migrate.Word
	to        string
	status    int // 0 for none
	answer    redirects.Answer
	isPattern bool
}

// takeAlias takes in a directive of mod_alias.
func (h *reader) takeAlias(d *directive) {
	h.said.hasAlias = true
	words, err := configWords.Split(d.line, d.end)
	if err != nil {
		h.Wrong(d.at, "%s", err)
		return
	}
	alias, err := parseAlias(d.name, words)
	at := d.at
	if alias.from.Column > 0 {
		at.Column = alias.from.Column
	}
	switch inStatus := alias.checkStatus(); {
	case err != nil:
		h.Wrong(at, "%s", err)
	case inStatus != nil:
		h.RefuseLine(alias.line(h, at), alias.front(), inStatus)
	case alias.isPattern:
		h.addMatch(at, &alias)
	default:
		h.addRedirect(at, &alias)
	}
}

// configWords splits words as Apache does: a quotation mark or a backslash may have one in front.
var configWords = migrate.Splitter{Unescape: func(c, quote byte) (string, bool) {
	return string(c), c == '\\' || c == quote
}}

// front returns the paths of which a directive that is refused takes some, nil for none.
func (a *aliasLine) front() []redirects.Segment {
	switch {
	case a.isPattern:
		return pathexpr.Front(a.from.Text, "/")
	case strings.HasPrefix(a.from.Text, "/"):
		return redirects.Below(a.path())
	}
	return nil
}

// path returns the path of a Redirect. Apache merges slashes in it, and in a request's path.
func (a *aliasLine) path() []redirects.Segment {
	return redirects.Text(redirects.Encoded(slashes.ReplaceAllString(a.from.Text, "/")))
}

var slashes = regexp.MustCompile(`//+`)

// parseAlias takes a directive apart.
func parseAlias(name string, words []migrate.Word) (a aliasLine, err error) {
	a.isPattern = name == "redirectmatch"
	switch name {
	case "redirectpermanent":
		a.status = 301
	case "redirecttemp":
		a.status = 302
	default:
		if len(words) > 1 {
			status, isStatus := statusOf(words[0].Text)
			if isStatus {
				a.status, words = status, words[1:]
			} else if len(words) > 2 {
				return a, errors.New(printable.Quote(words[0].Text) + " is no status; write permanent, " +
					"temp, seeother, gone or a number")
			}
		}
	}
	if len(words) == 0 || len(words) > 2 {
		return a, errors.New("a redirect has a path and a destination; write: Redirect 301 /path " +
			"https://www.example.com/path")
	}
	a.from = words[0]
	isGone := a.status == 410
	switch {
	case a.checkStatus() != nil:
	case isGone && len(words) == 2:
		return a, errors.New("what is gone has no destination; remove " + printable.Quote(words[1].Text))
	case isGone:
		a.answer, a.status = redirects.Gone, 0
	case len(words) == 1:
		return a, errors.New("the directive has no destination; write a URL, or a path that begins " +
			"with \"/\"")
	default:
		a.to = withLowerScheme(words[1].Text)
	}
	return a, nil
}

// checkStatus refuses a status that no rule has.
func (a *aliasLine) checkStatus() error {
	if a.status == 0 || a.status == 410 || resolver.ValidStatus(a.status) {
		return nil
	}
	return errors.New("a rule has no status " + strconv.Itoa(a.status) + "; use Caddy's respond, or " +
		"error and handle_errors")
}

// statusOf returns the status that a word means.
func statusOf(word string) (status int, ok bool) {
	switch strings.ToLower(word) {
	case "permanent":
		return 301, true
	case "temp":
		return 302, true
	case "seeother":
		return 303, true
	case "gone":
		return 410, true
	}
	status, err := strconv.Atoi(word)
	return status, err == nil
}

// addRedirect takes in what a Redirect says.
func (h *reader) addRedirect(at resolver.Position, a *aliasLine) {
	from, to := a.from.Text, a.to
	isGone := a.answer == redirects.Gone
	if !strings.HasPrefix(from, "/") {
		h.Wrong(at, "%s is no path; it begins with \"/\"", printable.Quote(from))
		return
	}
	if err := migrate.CheckDestination(to); err != nil && !isGone {
		h.Wrong(at, "%s", err)
		return
	}
	if strings.Contains(from, "?") {
		h.Drop(at, noQuery)
		return
	}
	line := a.line(h, at)
	line.Path, line.IsPrefix = redirects.Below(a.path()), true
	isDirectory, toDirectory := strings.HasSuffix(from, "/"), strings.HasSuffix(to, "/")
	switch {
	case isGone:
	case strings.ContainsAny(to, "?#"):
		line.Path, line.To = a.path(), redirects.Literal(to)
		h.Approximate(at, "what is below the path is appended behind the destination's query or "+
			"fragment there; here the rule is for the path alone")
	case isDirectory && toDirectory:
		line.To = redirects.WithRest(to)
	case from == "/":
		h.RefuseLine(line, line.Path, errors.New("the rest of the path follows the destination without "+
			"a \"/\" there; write "+to+"/"))
		return
	case isDirectory:
		line.Path, line.To = a.path(), redirects.Literal(to)
		h.Approximate(at, "what is below the path follows the destination without a \"/\" there; here "+
			"the rule is for the path alone")
	default:
		line.To, line.Itself = redirects.WithRest(strings.TrimSuffix(to, "/")+"/"), redirects.Literal(to)
		h.said.addsSlash = h.said.addsSlash || toDirectory
	}
	h.Add(line)
}

// line returns the line of a directive, without path and destination.
func (a *aliasLine) line(h *reader, at resolver.Position) redirects.Line {
	line := redirects.Line{At: at, Answer: a.answer, IsLater: true}
	if a.answer == redirects.Leads {
		line.Status = h.statusOr(a.status)
	}
	return line
}

// noQuery is why a line with a query in its path is left out.
const noQuery = "no request gets to this line, as a path has no \"?\" and what is behind it; use " +
	"Caddy's redir with a query matcher"

// withLowerScheme returns a destination with the scheme of a URL in small letters.
func withLowerScheme(to string) string {
	scheme, rest, found := strings.Cut(to, "://")
	if lower := strings.ToLower(scheme) + "://" + rest; found && migrate.IsURL(lower) {
		return lower
	}
	return to
}

// addMatch takes in what a RedirectMatch says.
func (h *reader) addMatch(at resolver.Position, a *aliasLine) {
	e, err := pathexpr.Parse(a.from.Text, pathexpr.Options{})
	if err != nil {
		h.RefuseLine(a.line(h, at), a.front(), err)
		return
	}
	if wantsQuery(e) {
		h.Drop(at, noQuery)
		return
	}
	h.AddPaths(a.line(h, at), e, func(p *pathexpr.Path) ([]redirects.Piece, error) {
		to, err := h.substitute(e, p, percentEncodedPath(a.to))
		return to, cmp.Or(err, migrate.CheckPieces(to))
	})
}

// percentEncodedPath returns the destination of a RedirectMatch with the percent signs of its path
// encoded, as Apache encodes the path as a whole.
func percentEncodedPath(to string) string {
	end := strings.IndexAny(to+"?", "?#")
	return strings.ReplaceAll(to[:end], "%", "%25") + to[end:]
}
