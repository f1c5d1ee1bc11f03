package tables

import (
	"errors"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// genericTable is a table of redirects from an unknown program, or one of our own. It accepts
// common synonyms for column names and statuses. A key that is a path or a URL matches just that,
// and all below it if it ends in "/*". Any other key is a rule's.
type genericTable struct {
	*migrate.Table // of the rows that make no rule
	rows           *rulefile.Rows
	columns        []column // of the header
	// isUnstated reports whether neither the table nor the command line says which rules are exact.
	isUnstated bool
	// Of a row: whether it marks a link as gone, whether its key begins with "/" or is a URL, and
	// why no rule has such a key.
	isGone, isPath bool
	refused        error
}

// read reads the rows. The caller has read the first one, or got an error instead.
func (u *genericTable) read(
	first []string, firstErr error, add func(resolver.Rule),
) ([]lint.Warning, error) {
	warnings, err := u.Reading.ReadRows(u.rows, first, firstErr, func(rule resolver.Rule) {
		if u.isGone {
			rule.Value = resolver.GoneValue
		}
		u.addRule(rule, add)
	})
	var skipped migrate.Names
	for _, c := range u.columns {
		if u.rows.HasHeader() && (c.known == unknown || c.isSkipped) {
			skipped.Add(c.name)
		}
	}
	u.RemarkSkipped("columns without a meaning here, which --columns status=NAME can give one, are",
		skipped)
	return warnings, err
}

// addRule adds the rules of a row.
func (u *genericTable) addRule(rule resolver.Rule, add func(resolver.Rule)) {
	line := redirects.Line{At: rule.Position, To: redirects.Literal(rule.Value),
		Status: rule.Status, Query: rule.Query, Refused: u.refused}
	switch {
	case u.refused != nil:
		u.Add(line)
	case !u.isPath:
		add(rule)
	case strings.Contains(rule.Key, "*"):
		if rule.Unlisted || rule.Note != "" || rule.Windows != "" || !resolver.IsDestination(rule.Value) {
			line.Refused = errors.New("a row with a \"*\" has a destination, a status and a query mode " +
				"alone; leave out \"/*\" and the column exact, and the row matches below its path, too")
		}
		u.AddWildcard(line, "/"+rule.Key, rule.Value)
	case leadsToItself(&rule):
		u.Approximate(rule.Position, "the row leads to itself, or to itself with a slash: the next "+
			"handler answers its requests; remove the row")
	default:
		rule.Exact = rule.Exact || u.isUnstated
		add(rule)
	}
}

// leadsToItself reports whether a rule leads to its own path, perhaps with a slash more or less.
func leadsToItself(rule *resolver.Rule) bool {
	path := rule.Value
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return strings.TrimSuffix(path, "/") == "/"+strings.TrimSuffix(rule.Key, "/")
}

// field returns the value of a field for a table of rules.
func (u *genericTable) field(i int, column, field string) (own string, err error) {
	u.isGone = u.isGone && i > 0
	field = strings.TrimSpace(field)
	switch {
	case column == "key":
		u.isPath = strings.HasPrefix(field, "/") || redirects.IsURL(field)
		path, err := u.WithoutHost(field)
		if path == "/" {
			err = redirects.ErrRoot
		}
		if u.refused = err; err != nil { // the row is read to its end for Caddy's redir
			return field, nil
		}
		return path, nil
	case u.rows.HasHeader() && u.columns[i].skips(field):
		return "", nil
	case field == "" || column != "status":
		return field, nil
	}
	code, ok := parseStatus(field)
	if !ok {
		return "", errors.New("this column holds " + rulefile.StatusWords + ", or 410, not " +
			printable.Quote(field) + rulefile.InsteadOfStatus(field))
	}
	if u.isGone = code == statusGone; u.isGone {
		return "", nil
	}
	return strconv.Itoa(code), nil
}

// statusGone is the status of links that are gone in a table of redirects.
const statusGone = 410

// parseStatus returns the status in a field. It is 410 for links that are gone.
func parseStatus(field string) (code int, ok bool) {
	text := strings.ToLower(strings.TrimSpace(field))
	number, _, _ := strings.Cut(text, " ") // 301 Moved Permanently
	if number == "410" || text == resolver.GoneValue {
		return statusGone, true
	}
	if code, ok = rulefile.ParseStatus(text); !ok {
		code, ok = rulefile.ParseStatus(number)
	}
	return code, ok
}
