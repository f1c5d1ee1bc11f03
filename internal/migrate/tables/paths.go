package tables

import (
	"errors"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// pathKeys tells what the keys of a table of an unknown program match. A key that is a path or a
// URL matches just that, and all below it where it ends in "/*". Any other key is a rule's.
type pathKeys struct {
	isUnstated bool // neither the table nor the command line says which rules are exact
	isPath     bool // the key of the row begins with "/", or is a URL
	exact      int  // how many rules are exact because of their keys
	reports    []lint.Warning
}

// add adds the rules of a row.
func (p *pathKeys) add(rule resolver.Rule, add func(resolver.Rule)) {
	switch {
	case !p.isPath:
		add(rule)
	case strings.Contains(rule.Key, "*"):
		if err := addWildcard(rule, add); err != nil {
			p.report(rule, rulefile.WarnLeftOut, err.Error())
		}
	case leadsToItself(&rule):
		p.report(rule, rulefile.WarnApproximated, "the row leads to itself, or to itself with a slash: "+
			"the next handler answers its requests; remove the row")
	default:
		if p.isUnstated {
			rule.Exact = true
			p.exact++
		}
		add(rule)
	}
}

func (p *pathKeys) report(rule resolver.Rule, kind lint.Kind, message string) {
	p.reports = append(p.reports, lint.Warning{Position: rule.Position, Key: rule.Key, Kind: kind,
		Message: message})
}

// warnings returns the reports of rows, and of the table.
func (p *pathKeys) warnings() []lint.Warning {
	if p.exact == 0 {
		return p.reports
	}
	return append(p.reports, lint.Warning{Kind: rulefile.WarnWholeTable,
		Message: printable.Count(p.exact, "rule") + " of keys that begin with \"/\" or are URLs: exact, " +
			"as nothing says that they match below their paths, too; --exact=false lets them"})
}

// addWildcard adds the rules of a row whose key has a wildcard.
func addWildcard(rule resolver.Rule, add func(resolver.Rule)) error {
	key, isBelow := strings.CutSuffix(rule.Key, "/*")
	if !isBelow || strings.Contains(key, "*") {
		return errors.New("a \"*\" in a key stands for the rest of the path, behind a \"/\" at its end; " +
			"write a row for each path, or use Caddy's redir with a path matcher")
	}
	rule.Key, rule.Exact = key, false
	for _, rest := range []string{":splat", "*", "$1"} {
		if to, ok := strings.CutSuffix(rule.Value, "/"+rest); ok {
			rule.Value = to + "/"
			add(rule)
			return nil
		}
	}
	if strings.Contains(rule.Value, "*") || strings.Contains(rule.Value, ":splat") {
		return errors.New("the rest of the path is appended to the destination; write \":splat\" at " +
			"its end, behind a \"/\"")
	}
	rule.Exact = true
	add(rule)
	rule.Key, rule.Exact = key+"/{+splat}", false
	add(rule)
	return nil
}

// leadsToItself reports whether a rule leads to its own path, perhaps with a slash more or less.
func leadsToItself(rule *resolver.Rule) bool {
	path, isInternal := strings.CutPrefix(rule.Value, "/")
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return isInternal && strings.TrimSuffix(path, "/") == strings.TrimSuffix(rule.Key, "/")
}
