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

// configWords splits words like Apache: a backslash can escape a quotation mark or a backslash.
var configWords = migrate.Splitter{Unescape: func(c, quote byte) (string, bool) {
	return string(c), c == '\\' || c == quote
}}

// convertAlias handles a directive of mod_alias.
func (h *reader) convertAlias(d *directive) {
	words, err := configWords.Split(d.line, d.end)
	status := map[string]string{"redirectpermanent": "301", "redirecttemp": "302"}[d.name]
	if status == "" && len(words) > 1 && (len(words) > 2 || statusOf(words[0].Text) != 0) {
		status, words = words[0].Text, words[1:]
	}
	line := redirects.Line{At: d.at, IsLater: true}
	line.Answer, line.Status, line.Refused = answerOf(status)
	leads := line.Answer == redirects.Leads && line.Refused == nil
	switch {
	case err != nil:
		h.Wrong(d.at, "%s", err)
		return
	case len(words) == 0, len(words) > 2, leads && len(words) == 1,
		line.Answer == redirects.Gone && len(words) == 2:
		h.Wrong(d.at, "a redirect has a path and, unless it is gone, a destination; write: "+
			"Redirect 301 /path https://www.example.com/path")
		return
	}
	line.At.Column = words[0].Column
	from, to := words[0].Text, ""
	if leads {
		to = withLowerScheme(words[1].Text)
	}
	if d.name == "redirectmatch" {
		h.addMatch(line, from, to)
	} else {
		h.addRedirect(line, from, to)
	}
}

// statusOf returns the status of a word, or 0.
func statusOf(word string) int {
	names := map[string]int{"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}
	status, isName := names[strings.ToLower(word)]
	if !isName {
		status, _ = strconv.Atoi(word)
	}
	return status
}

// answerOf returns the answer of a line with a status, or with none if the word is empty. The error
// explains why no rule can have the status.
func answerOf(word string) (answer redirects.Answer, status int, err error) {
	switch status = statusOf(word); {
	case status == 410:
		return redirects.Gone, 0, nil
	case word == "" || resolver.ValidStatus(status):
		return redirects.Leads, status, nil
	case status == 0:
		return redirects.Leads, 0, errors.New(printable.Quote(word) + " is not a status; write " +
			migrate.StatusCodes + ", or gone")
	}
	return redirects.Leads, 0, migrate.StatusError(status)
}

// withLowerScheme returns a destination with its URL scheme in lower case.
func withLowerScheme(to string) string {
	return urlScheme.ReplaceAllStringFunc(to, strings.ToLower)
}

var urlScheme = regexp.MustCompile(`^(?i:https?)://`)

// addRedirect adds the lines of a Redirect. Apache merges slashes both in its path and in the
// request's.
func (h *reader) addRedirect(line redirects.Line, from, to string) {
	path := redirects.Text(redirects.Encoded(slashes.ReplaceAllString(from, "/")))
	line.Path, line.IsPrefix = redirects.Below(path), true
	isDirectory := strings.HasSuffix(from, "/")
	lacksSlash := isDirectory && !strings.HasSuffix(to, "/")
	inDestination := migrate.CheckDestination(to)
	switch {
	case !strings.HasPrefix(from, "/"):
		h.Wrong(line.At, "%s is not a path; write one that begins with \"/\"", printable.Quote(from))
		return
	case strings.Contains(from, "?"):
		h.Refuse(line.At, nil, pathexpr.ErrQuery)
		return
	case line.Answer == redirects.Gone, line.Refused != nil:
	case inDestination != nil:
		h.Wrong(line.At, "%s", inDestination)
		return
	case strings.ContainsAny(to, "?#"), lacksSlash && from != "/":
		line.Path, line.To = path, redirects.Literal(to)
		h.Approximate(line.At, "there, the rest of a path follows the destination, or its query, as it "+
			"is; here the rule matches the path alone")
	case lacksSlash:
		line.Refused = errors.New("there, the rest of a path follows the destination without a \"/\"; " +
			"write " + to + "/")
	case isDirectory:
		line.To, line.NeedsSlash = redirects.WithRest(to), true
	default:
		line.To = redirects.WithRest(strings.TrimSuffix(to, "/") + "/")
		line.Itself = redirects.Literal(to)
	}
	h.Add(line)
}

var slashes = regexp.MustCompile(`//+`)

// addMatch adds the lines of a RedirectMatch.
func (h *reader) addMatch(line redirects.Line, pattern, to string) {
	e, err := pathexpr.Parse(pattern, pathexpr.Options{Loosely: h.Loosely})
	switch err = cmp.Or(line.Refused, err); {
	case err != nil:
		line.To = redirects.Literal(to)
		h.RefuseLine(line, pathexpr.Front(pattern, "/"), err)
	case wantsQuery(pattern):
		h.Refuse(line.At, nil, pathexpr.ErrQuery)
	default:
		h.AddPaths(line, e, func(p *pathexpr.Path) ([]redirects.Piece, error) {
			pieces, err := substitute(e, p, percentEncodedPath(to))
			return pieces, cmp.Or(err, migrate.CheckPieces(pieces))
		})
	}
}

// wantsQuery reports whether an expression has a "?" as a character, which no path has.
func wantsQuery(pattern string) bool { return strings.Contains(pattern, `\?`) }

// percentEncodedPath encodes the percent signs in the path of a RedirectMatch destination. Apache
// encodes that path as a whole, too.
func percentEncodedPath(to string) string {
	end := strings.IndexAny(to+"?", "?#")
	return strings.ReplaceAll(to[:end], "%", "%25") + to[end:]
}
