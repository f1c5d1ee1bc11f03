package lists

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// isOfCanonical reports whether a map is one of Canonical's program yaml-responses: a path names
// groups as in Python.
func isOfCanonical(table migrate.Node) bool {
	for key, value := range table.Inside() {
		if strings.Contains(key.Text, "(?P<") && key.Text[0] != '^' && braces.MatchString(value.Text) {
			return true
		}
	}
	return false
}

// braces matches the name of a group in a destination.
var braces = regexp.MustCompile(`\{(\w+)\}`)

// setCanonical makes the entries those of Canonical. All paths are regular expressions for whole
// paths, and a destination names groups in braces.
func (p *pairs) setCanonical() {
	p.Program, p.isSaid = "Canonical's yaml-responses", true
	p.Remark("this is read as a file of Canonical's yaml-responses: all paths are regular " +
		"expressions " +
		"for whole paths; --status says which redirects without a status are permanent")
	p.Status = cmp.Or(p.Status, 302)
	p.add = func(line redirects.Line, path, to string) {
		expression := "/" + strings.TrimPrefix(path, "/")
		if strings.Contains(path, "|") {
			expression = "(?:" + expression + ")"
		}
		if migrate.HasQuery(to) {
			line.Query = cmp.Or(p.Reading.Query, resolver.QueryPreserve)
		}
		line.Refused = cmp.Or(line.Refused, migrate.CheckText("a path or a destination", path+to))
		to = braces.ReplaceAllString(strings.ReplaceAll(to, "$", "%24"), "$${$1}")
		p.AddMatch(line, "^"+expression+"$", to, pathexpr.Options{})
	}
}
