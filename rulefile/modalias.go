package rulefile

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What Apache's mod_alias has: Redirect takes a path and all below it, and appends the rest as it
// is; RedirectMatch a regular expression.

// aliasLine is a directive of mod_alias taken apart.
type aliasLine struct {
	status   int // 0 for none
	isGone   bool
	from, to word
}

// takeRedirect takes in a directive of mod_alias.
func (h *htaccessReader) takeRedirect(d *directive) {
	words, err := configWords(d)
	if err != nil {
		h.wrong(d.at, "%s", err)
		return
	}
	line, refused := parseAlias(d.name, words)
	at := d.at
	if line.from.column > 0 {
		at.Column = line.from.column
	}
	switch {
	case refused != nil && refused.kind == malformed:
		h.wrong(at, "%s", refused.why)
	case refused != nil:
		h.refuse(at, line.front(d.name), refused.why.Error())
	case d.name == "redirectmatch":
		h.addRedirectMatch(at, &line)
	default:
		h.addRedirect(at, &line)
	}
}

// front returns the paths of which a directive that is refused takes some, "" for none.
func (l *aliasLine) front(name string) string {
	switch {
	case name == "redirectmatch":
		return frontOfExpression(l.from.text, "/")
	case strings.HasPrefix(l.from.text, "/"):
		return below(encodedPath(slashes.ReplaceAllString(l.from.text, "/")))
	}
	return ""
}

// parseAlias takes a directive apart.
func parseAlias(name string, words []word) (line aliasLine, refused *refusal) {
	wrong := func(why string) (aliasLine, *refusal) {
		return line, &refusal{why: errors.New(why), kind: malformed}
	}
	switch name {
	case "redirectpermanent":
		line.status = 301
	case "redirecttemp":
		line.status = 302
	default:
		if len(words) > 1 {
			status, isStatus := aliasStatus(words[0].text)
			if isStatus {
				line.status, words = status, words[1:]
			} else if len(words) > 2 {
				return wrong(quote(words[0].text) + " is no status; write permanent, temp, seeother, gone " +
					"or a number")
			}
		}
	}
	if len(words) == 0 || len(words) > 2 {
		return wrong("a redirect has a path and a destination; write: Redirect 301 /path " +
			"https://www.example.com/path")
	}
	line.from = words[0]
	line.isGone = line.status == 410
	isRedirect := line.status == 0 || line.status >= 300 && line.status < 400
	switch {
	case isRedirect && line.status != 0 && !resolver.ValidStatus(line.status),
		!isRedirect && !line.isGone:
		return line, &refusal{why: errors.New("a rule has no status " + strconv.Itoa(line.status) +
			"; use Caddy's respond, or error and handle_errors"), kind: unsupported}
	case isRedirect && len(words) == 1:
		return wrong("the directive has no destination; write a URL, or a path that begins with \"/\"")
	case line.isGone && len(words) == 2:
		return wrong("what is gone has no destination; remove " + quote(words[1].text))
	case isRedirect:
		line.to = words[1]
		line.to.text = withLowerScheme(line.to.text)
	}
	return line, nil
}

// aliasStatus returns the status that a word means.
func aliasStatus(w string) (status int, ok bool) {
	switch strings.ToLower(w) {
	case "permanent":
		return 301, true
	case "temp":
		return 302, true
	case "seeother":
		return 303, true
	case "gone":
		return 410, true
	}
	status, err := strconv.Atoi(w)
	return status, err == nil
}

// addRedirect takes in what a Redirect says.
func (h *htaccessReader) addRedirect(at resolver.Position, alias *aliasLine) {
	from, to := alias.from.text, alias.to.text
	if !strings.HasPrefix(from, "/") {
		h.wrong(at, "%s is no path; it begins with \"/\"", quote(from))
		return
	}
	if err := checkDestination(to); err != nil && !alias.isGone {
		h.wrong(at, "%s", err)
		return
	}
	if strings.Contains(from, "?") {
		h.drop(at, noQuery)
		return
	}
	path := encodedPath(slashes.ReplaceAllString(from, "/"))
	line := foreignLine{at: at, path: below(path), to: to, status: h.statusOr(alias.status)}
	isDirectory, toDirectory := strings.HasSuffix(from, "/"), strings.HasSuffix(to, "/")
	switch {
	case alias.isGone:
		line.answer, line.status = gone, 0
	case strings.ContainsAny(to, "?#"):
		line.path = path
		h.approximate(at,
			"what is below the path is appended behind the destination's query or fragment "+
				"there; here the rule is for the path alone")
	case isDirectory && toDirectory:
		line.to = to + capturedRest
	case isDirectory && from == "/":
		h.refuse(at, line.path, "the rest of the path follows the destination without a \"/\" there; "+
			"write "+to+"/")
		return
	case isDirectory:
		line.path = path
		h.approximate(at, "what is below the path follows the destination without a \"/\" there; here "+
			"the rule is for the path alone")
	case toDirectory:
		line.to, line.itself = to+capturedRest, to
		h.remarkOnSlash()
	default:
		line.to, line.itself = to+"/"+capturedRest, to
	}
	h.add(line)
}

// slashes are several in a row. Apache merges them in a request's path, and Redirect in its own.
var slashes = regexp.MustCompile(`//+`)

// noQuery is why a line with a query in its path is left out.
const noQuery = "no request gets to this line, as a path has no \"?\" and what is behind it; use " +
	"Caddy's redir with a query matcher"

// remarkOnSlash says that there is no second slash.
func (h *htaccessReader) remarkOnSlash() {
	if !h.isSlashRemarked {
		h.remark("a destination with a slash in front of what is below a path gets a second one there, " +
			"and here none")
	}
	h.isSlashRemarked = true
}

// remarkOnSlashOf is remarkOnSlash for the destination of an expression, if a group of it begins
// with a slash.
func (h *htaccessReader) remarkOnSlashOf(e *pathExpression, to string) {
	for _, match := range groupBehindSlash.FindAllStringSubmatch(to, -1) {
		begins := func(v pathVariant) bool {
			return strings.HasPrefix(v.groups[int(match[1][0]-'0')], "/")
		}
		if slices.ContainsFunc(e.variants, begins) {
			h.remarkOnSlash()
		}
	}
}

// groupBehindSlash is what stands for a group in a destination, behind a slash.
var groupBehindSlash = regexp.MustCompile(`/\$([0-9])`)

// withLowerScheme returns a destination with the scheme of a URL in small letters.
func withLowerScheme(to string) string {
	scheme, rest, found := strings.Cut(to, "://")
	if lower := strings.ToLower(scheme) + "://" + rest; found && isURL(lower) {
		return lower
	}
	return to
}

// checkDestination refuses what is neither a URL nor a path.
func checkDestination(to string) error {
	if isURL(to) || strings.HasPrefix(to, "/") {
		return nil
	}
	return errors.New(quote(to) +
		" is no destination; it begins with \"/\", \"http://\" or \"https://\"")
}

// addRedirectMatch takes in what a RedirectMatch says.
func (h *htaccessReader) addRedirectMatch(at resolver.Position, alias *aliasLine) {
	e, err := expressionOptions{}.parse(alias.from.text)
	if err != nil {
		h.refuse(at, frontOfExpression(alias.from.text, "/"), err.Error())
		return
	}
	if e.wantsQuery() {
		h.drop(at, noQuery)
		return
	}
	line := foreignLine{at: at, status: h.statusOr(alias.status)}
	if alias.isGone {
		line.answer, line.status = gone, 0
	}
	written := percentEncodedPath(alias.to.text)
	h.remarkOnSlashOf(e, written)
	lines, err := e.lines(line, func(v *pathVariant) (string, error) {
		to := apacheDestination(v, written)
		return to, checkDestination(to)
	})
	if err != nil {
		h.refuse(at, e.variants[0].path, err.Error())
		return
	}
	h.addExpression(at, e, lines)
}

// percentEncodedPath returns the destination of a RedirectMatch with the percent signs of its path
// encoded, as Apache encodes the path as a whole.
func percentEncodedPath(to string) string {
	end := strings.IndexAny(to, "?#")
	if end < 0 {
		end = len(to)
	}
	return strings.ReplaceAll(to[:end], "%", "%25") + to[end:]
}

// wantsQuery reports whether all that an expression matches has a "?".
func (e *pathExpression) wantsQuery() bool {
	return !slices.ContainsFunc(e.variants, func(v pathVariant) bool {
		return !strings.Contains(v.path, "%3F")
	})
}

// addExpression takes in the lines of a regular expression.
func (t *foreignTable) addExpression(
	at resolver.Position, e *pathExpression, lines []foreignLine,
) {
	for _, how := range e.approximations() {
		t.approximate(at, how)
	}
	for _, line := range lines {
		t.add(line)
	}
}

// apacheDestination returns a destination with the groups of a variant in the place of $0 to $9. A
// backslash stands in front of what is meant as it is.
func apacheDestination(v *pathVariant, to string) string {
	var b strings.Builder
	for i := 0; i < len(to) && b.Len() < longestDestination; i++ {
		switch c := to[i]; {
		case c == '\\' && i+1 < len(to):
			i++
			b.WriteByte(to[i])
		case c == '$' && i+1 < len(to) && to[i+1] >= '0' && to[i+1] <= '9':
			i++
			b.WriteString(v.groups[int(to[i]-'0')])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
