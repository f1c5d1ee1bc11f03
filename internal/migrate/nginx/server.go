package nginx

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Redirects in servers: return, and rewrite with permanent or redirect. nginx tries those of the
// server itself first, then those of the location of a path.

// server is a block of a server, or what stands outside of one.
type server struct {
	names     []string
	itself    location // the redirects outside of locations
	locations []*location
	refused   error // of all redirects
}

// location is a block for some paths. Without a path, it is for all of them.
type location struct {
	at             resolver.Position
	modifier, path string // "=", "^~", "~", "~*", or ""
	redirects      []redirect
	isEnded        bool // by a redirect of all its requests
}

// redirect is a return or a rewrite.
type redirect struct {
	line    redirects.Line
	pattern string // "" for all paths of the location
	to      string
}

// openLocation begins a location.
func (n *blockReader) openLocation(words []word) *location {
	parts := locationPath.FindStringSubmatch(textOf(words[1:]))
	if parts == nil {
		n.Wrong(words[0].at, "a location has a path, as in: location = /old {")
		return nil
	}
	l := &location{at: words[0].at, modifier: parts[1], path: parts[2]}
	if l.path[0] != '@' {
		s := n.servers[len(n.servers)-1]
		s.locations = append(s.locations, l)
	}
	return l
}

// locationPath matches what stands behind "location".
var locationPath = regexp.MustCompile(`^(=|\^~|~\*|~|) ?(.+)$`)

// readDirective handles a directive of a server or a location.
func (n *blockReader) readDirective() {
	words, b, s := n.words, n.block(), n.servers[len(n.servers)-1]
	r := redirect{line: redirects.Line{At: words[0].at, IsLater: true}}
	isRedirect, err := false, error(nil)
	switch words[0].text {
	case "return":
		isRedirect, err = r.parseReturn(words)
		b.location.isEnded = b.location.isEnded || isRedirect && b.refused == nil
	case "rewrite":
		isRedirect, err = true, r.parseRewrite(words)
	case "server_name":
		for _, name := range words[1:] {
			s.names = append(s.names, name.text)
		}
	}
	switch {
	case err != nil:
		n.Wrong(words[0].at, "%s", err)
	case !isRedirect:
		n.count++
		n.skipped.Add(words[0].text)
	case b.refused != nil && slices.Contains(n.maps, r.to): // if ($new) { return 301 $new; }
		n.Status = cmp.Or(n.Status, r.line.Status)
		n.Query = cmp.Or(n.Query, resolver.QueryIgnore)
	default:
		r.line.Refused = cmp.Or(r.line.Refused, b.refused)
		if r.setDestination(); b.location == &s.itself && r.pattern == "" && r.line.Refused == nil {
			n.refuseAll(s, &r)
			return
		}
		b.location.redirects = append(b.location.redirects, r)
	}
}

// textOf joins words with blanks.
func textOf(words []word) (text string) {
	for _, w := range words {
		text += w.text + " "
	}
	return strings.TrimSuffix(text, " ")
}

// parseReturn parses a return. It reports whether that redirects.
func (r *redirect) parseReturn(words []word) (is bool, err error) {
	if len(words) < 2 || len(words) > 3 {
		return false, errors.New("a return has a status and a destination; write: return 301 /new")
	}
	code, err := strconv.Atoi(words[1].text)
	r.to, r.line.Query = words[len(words)-1].text, resolver.QueryIgnore
	switch {
	case err != nil && len(words) == 2:
		r.line.Status = 302
	case code == 410:
		r.line.Answer, r.line.Query, r.to = redirects.Gone, resolver.QueryDefault, ""
	case code < 300 || code > 399:
		return false, nil
	case !resolver.ValidStatus(code):
		r.line.Refused = migrate.StatusError(code)
	default:
		r.line.Status = code
	}
	return true, nil
}

// parseRewrite parses a rewrite.
func (r *redirect) parseRewrite(words []word) error {
	if len(words) < 3 || len(words) > 4 {
		return errors.New("a rewrite has an expression and a destination; write: rewrite ^/old$ /new " +
			"permanent")
	}
	r.pattern, r.to = words[1].text, words[2].text
	flag := textOf(words[3:])
	switch {
	case flag == "permanent":
		r.line.Status = 301
	case flag == "redirect", redirects.IsURL(r.to), strings.HasPrefix(r.to, "$scheme"):
		r.line.Status = 302
	default:
		r.line.Refused = errors.New("this is a rewrite, not a redirect, and lines after it see the new " +
			"path; use Caddy's rewrite or try_files")
	}
	if to, drops := strings.CutSuffix(r.to, "?"); drops {
		r.to, r.line.Query = to, resolver.QueryIgnore
	}
	return nil
}

var (
	// ownOrigin matches the scheme and the host of the request in a destination, and ownScheme its
	// scheme alone.
	ownOrigin = regexp.MustCompile(
		`^(https?|\$\w+)://(\$host|\$http_host|\$server_name)(:\$server_port)?`)
	ownScheme = regexp.MustCompile(`^\$scheme://`)
	// ownQuery matches the query of the request at the end of a destination, and ownPath its path.
	ownQuery = regexp.MustCompile(`(\?|&|\$is_args)\$(args|query_string)$`)
	ownPath  = regexp.MustCompile(`\$(request_uri|document_uri|uri)\b`)
)

// setDestination replaces the variables of the request in the destination. A request's query is
// appended unless the line ignores it and has no variable for it.
func (r *redirect) setDestination() {
	to := ownScheme.ReplaceAllString(ownOrigin.ReplaceAllString(r.to, ""), "https://")
	path, hasQuery := strings.CutSuffix(to, "$request_uri")
	if strings.Contains(path, "$request_uri") {
		r.line.Refused = cmp.Or(r.line.Refused, errors.New("$request_uri has a query, so what follows "+
			"it in a destination is a part of that; write $uri"))
	}
	hasQuery = hasQuery || ownQuery.MatchString(to) || r.line.Query != resolver.QueryIgnore
	to = ownQuery.ReplaceAllString(to, "")
	switch {
	case hasQuery && redirects.HasQuery(to):
		r.line.Query = resolver.QueryPreserve
	case hasQuery:
		r.line.Query = resolver.QueryDefault
	}
	r.to = ownPath.ReplaceAllString(to, "$${0}")
}

// refuseAll refuses a return for all paths of a server.
func (n *blockReader) refuseAll(s *server, r *redirect) {
	if r.to == "${0}" {
		n.Drop(r.line.At, "this leads every path to itself with HTTPS, as Caddy does without a rule; "+
			"leave it out")
		return
	}
	n.Refuse(r.line.At, nil, errors.New("this is for every path of "+cmp.Or(migrate.QuoteAll(s.names),
		"a host")+", and rules have no host; write a site block for it, with: redir "+
		strings.ReplaceAll(r.to, "${0}", "{uri}")))
}

// addServers adds the lines of all servers.
func (n *blockReader) addServers() {
	leading := 0
	for _, s := range n.servers {
		if s.leads() {
			leading++
		}
	}
	for _, s := range n.servers {
		if leading > 1 && !slices.ContainsFunc(s.names, n.HasHost) {
			s.refused = migrate.OtherHostError(strings.Join(s.names, " "))
		}
		n.addServer(s)
	}
	if n.count > 0 {
		n.Remark("what redirects nothing is left out: %s (%s); included files are not read",
			printable.Count(n.count, "directive"), migrate.QuoteAll(n.skipped))
	}
}

// leads reports whether a server has redirects.
func (s *server) leads() bool {
	return s.itself.leads() || slices.ContainsFunc(s.locations, (*location).leads)
}

func (l *location) leads() bool { return len(l.redirects) > 0 }

// addServer adds the lines of a server in the order in which nginx tries them. The longest location
// of a kind counts, but the first regular expression.
func (n *blockReader) addServer(s *server) {
	ranks := map[string]int{"=": 0, "^~": 1, "~": 2, "~*": 2, "": 3}
	slices.SortStableFunc(s.locations, func(a, b *location) int {
		order := cmp.Compare(ranks[a.modifier], ranks[b.modifier])
		if order != 0 || a.isMatch() || a.modifier == "=" {
			return order
		}
		return cmp.Compare(len(b.path), len(a.path))
	})
	s.locations = slices.Insert(s.locations, 0, &s.itself)
	for i, l := range s.locations {
		for j := range l.redirects {
			n.addRedirect(s, l, &l.redirects[j])
		}
		leadsLater := func(later *location) bool {
			return later.leads() && (l.isMatch() || later.isMatch() || strings.HasPrefix(l.path, later.path))
		}
		switch {
		case i == 0 || l.isEnded || s.refused != nil:
		case !slices.ContainsFunc(s.locations[i+1:], leadsLater):
		case l.isMatch():
			n.Approximate(l.at, "nginx tries this location before those for the beginning of a path; here "+
				"the redirects of those come first")
		default:
			n.addRedirect(s, l, &redirect{line: redirects.Line{At: l.at, IsLater: true,
				Answer: redirects.Passes}})
		}
	}
}

// isMatch reports whether the path is a regular expression.
func (l *location) isMatch() bool { return strings.HasPrefix(l.modifier, "~") }

// expression returns the paths of a location as a regular expression.
func (l *location) expression() string {
	switch {
	case l.isMatch():
		return l.path
	case l.modifier == "=":
		return "^" + regexp.QuoteMeta(l.path) + "$"
	}
	return "^" + regexp.QuoteMeta(l.path) + ".*$"
}

// everyPath matches expressions for every path.
var everyPath = regexp.MustCompile(`^(\^|\^?\.\*\$?|\^/)?$`)

// addRedirect adds the lines of a redirect.
func (n *blockReader) addRedirect(s *server, l *location, r *redirect) {
	expression, why := r.pattern, cmp.Or(s.refused, r.line.Refused)
	options := pathexpr.Options{}
	if everyPath.MatchString(expression) {
		expression, options.Folds = l.expression(), l.modifier == "~*"
	} else if l.modifier != "" && l.modifier != "^~" || !strings.HasPrefix(strings.TrimSuffix(
		redirects.Visible(pathexpr.Front(expression, "/")), ":"+redirects.Splat), l.path) {
		why = cmp.Or(why, errors.New("the expression matches paths of other locations than "+
			printable.Quote(l.path)+", too; write one that begins with that path"))
	}
	// Regular expressions come between a location with "^~" and one without within it.
	isWithin := func(o *location) bool { return o.modifier == "" && strings.HasPrefix(o.path, l.path) }
	if l.modifier == "^~" && slices.ContainsFunc(s.locations, isWithin) {
		why = cmp.Or(why, errors.New("the server has a location within this one without \"^~\"; write "+
			"\"^~\" there, too"))
	}
	r.line.Refused = why
	n.AddMatch(r.line, expression, r.to, options)
}
