package nginx

import (
	"cmp"
	"errors"
	"fmt"
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
}

// location is a block for some paths.
type location struct {
	at             resolver.Position
	modifier, path string // "=", "^~", "~", "~*", or ""
	redirects      []redirect
	isEnded        bool // by a return for all of its requests
}

// redirect is a return or a rewrite.
type redirect struct {
	line    redirects.Line
	pattern string // "" for all paths of the location
	to      string
	options pathexpr.Options
}

// openServer begins a server, if it is a new one, or the first of the file.
func (n *blockReader) openServer(isNew bool) {
	if isNew || !n.isServer {
		n.servers = append(n.servers, new(server))
	}
	n.isServer = true
	for _, words := range n.top {
		n.readDirective(words)
	}
	n.top = nil
}

// openLocation begins a location.
func (n *blockReader) openLocation(words []word) *location {
	l := &location{at: words[0].at}
	switch len(words) {
	case 2:
		l.path = words[1].text
		for _, modifier := range []string{"^~", "=", "~*", "~"} {
			if path, is := strings.CutPrefix(l.path, modifier); is {
				l.modifier, l.path = modifier, path
				break
			}
		}
	case 3:
		l.modifier, l.path = words[1].text, words[2].text
	default:
		n.Wrong(l.at, "a location has a path, as in: location = /old {")
		return l
	}
	if l.path != "" && l.path[0] != '@' {
		s := n.servers[len(n.servers)-1]
		s.locations = append(s.locations, l)
	}
	return l
}

// readDirective handles a directive of a server or a location.
func (n *blockReader) readDirective(words []word) {
	s := n.servers[len(n.servers)-1]
	l := cmp.Or(n.block().location, &s.itself)
	r := redirect{line: redirects.Line{At: words[0].at, IsLater: true}}
	isRedirect := false
	var err error
	switch words[0].text {
	case "return":
		isRedirect, err = r.parseReturn(words)
		l.isEnded = l.isEnded || n.block().condition == nil && len(words) > 1
	case "rewrite":
		isRedirect, err = r.parseRewrite(words)
	case "server_name":
		for _, name := range words[1:] {
			s.names = append(s.names, name.text)
		}
	}
	c := n.block().condition
	switch {
	case err != nil:
		n.Wrong(words[0].at, "%s", err)
	case !isRedirect:
		n.count++
		n.skipped.Add(words[0].text)
	case c != nil && slices.Contains(n.maps, r.to):
		n.Status = cmp.Or(n.Status, r.line.Status)
		n.Query = cmp.Or(n.Query, resolver.QueryIgnore)
	default:
		if c != nil && r.pattern == "" {
			r.pattern, r.options = c.pattern, c.options
		}
		if c != nil {
			r.line.Refused, r.line.Notes = cmp.Or(r.line.Refused, c.line.Refused), c.line.Notes
		}
		r.setDestination()
		l.redirects = append(l.redirects, r)
	}
}

// conditionOf returns what an if says of paths.
func conditionOf(words []word) *redirect {
	text, c := "", redirect{}
	for _, w := range words[1:] {
		text += " " + w.text
	}
	parts := pathCondition.FindStringSubmatch(text)
	if parts == nil {
		c.line.Refused = fmt.Errorf("this is in an if at %s, on %s, and a rule matches the path alone: "+
			"use Caddy's redir with a matcher", words[0].at, printable.Quote(strings.TrimSpace(text)))
		return &c
	}
	c.options = pathexpr.Options{Folds: parts[2] == "~*", IsEncoded: parts[1] == "request_uri"}
	if c.options.IsEncoded {
		c.line.Notes = []string{"nginx compares path and query with this; rules match the path alone"}
	}
	if c.pattern = parts[3]; parts[2] == "=" {
		c.pattern = "^" + regexp.QuoteMeta(parts[3]) + "$"
	}
	return &c
}

// pathCondition matches a condition on the path.
var pathCondition = regexp.MustCompile(
	`^ \(\s*\$(uri|document_uri|request_uri) (=|~\*?) (.*?)\s*\)$`)

// parseReturn parses a return. It reports whether that redirects.
func (r *redirect) parseReturn(words []word) (is bool, err error) {
	if len(words) < 2 || len(words) > 3 {
		return false, errors.New("a return has a status and a destination; write: return 301 /new")
	}
	code, err := strconv.Atoi(words[1].text)
	r.to = words[len(words)-1].text
	switch {
	case err != nil && len(words) == 2:
		code = 302
	case code == 410:
		r.line.Answer, r.to = redirects.Gone, ""
		return true, nil
	case code < 300 || code > 399:
		return false, nil
	}
	if r.line.Status = code; !resolver.ValidStatus(code) {
		r.line.Status, r.line.Refused = 0, migrate.StatusError(code)
	}
	r.line.Query = resolver.QueryIgnore
	return true, nil
}

// parseRewrite parses a rewrite. It reports whether that redirects.
func (r *redirect) parseRewrite(words []word) (is bool, err error) {
	if len(words) < 3 || len(words) > 4 {
		return false, errors.New("a rewrite has an expression and a destination; write: rewrite ^/old$ " +
			"/new permanent")
	}
	r.pattern, r.to, r.line.Status = words[1].text, words[2].text, 302
	switch last := words[len(words)-1].text; {
	case len(words) == 4 && last == "permanent":
		r.line.Status = 301
	case len(words) == 4 && last == "redirect", migrate.IsURL(r.to),
		strings.HasPrefix(r.to, "$scheme"):
	default:
		r.line.Refused = errors.New("this is a rewrite, not a redirect, and lines after it see the new " +
			"path; use Caddy's rewrite or try_files")
	}
	var drops bool
	if r.to, drops = strings.CutSuffix(r.to, "?"); drops {
		r.line.Query = resolver.QueryIgnore
	} else if migrate.HasQuery(r.to) {
		r.line.Query = resolver.QueryPreserve
	}
	return true, nil
}

var (
	// ownOrigin matches the scheme and the host of the request in a destination.
	ownOrigin = regexp.MustCompile(
		`^(https?|\$\w+)://(\$host|\$http_host|\$server_name)(:\$server_port)?`)
	// ownQuery matches the query of the request at the end of a destination, and ownPath its path.
	ownQuery = regexp.MustCompile(`(\?|&|\$is_args)\$(args|query_string)$`)
	ownPath  = regexp.MustCompile(`\$(request_uri|document_uri|uri)\b`)
)

// setDestination replaces the variables of the request in the destination.
func (r *redirect) setDestination() {
	to := ownQuery.ReplaceAllString(ownOrigin.ReplaceAllString(r.to, ""), "")
	hasPath := strings.HasSuffix(to, "$request_uri")
	if hasPath || ownQuery.MatchString(r.to) {
		if r.line.Query = resolver.QueryDefault; migrate.HasQuery(to) {
			r.line.Query = resolver.QueryPreserve
		}
	}
	if strings.Contains(strings.TrimSuffix(to, "$request_uri"), "$request_uri") {
		r.line.Refused = cmp.Or(r.line.Refused,
			errors.New("$request_uri has a query, so what follows it "+
				"in a destination is a part of that; write $uri"))
	}
	if r.to = ownPath.ReplaceAllString(to, "$${0}"); strings.HasPrefix(r.to, "$scheme://") {
		r.to = "https" + strings.TrimPrefix(r.to, "$scheme")
	}
}
