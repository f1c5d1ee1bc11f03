package tables

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// columnPairs are names of the columns for key and destination that mean this only side by side.
// They are in lower case without blanks and dashes.
var columnPairs = [][2]string{
	{"short", "long"}, {"shorturl", "longurl"}, {"shorturl", "originalurl"},
	{"shortlink", "originalurl"}, {"slashtag", "destination"}, {"originalurl", "redirecturl"},
	{"address", "redirecturl"},
}

// usualNames are names of columns that tables of redirects have, in lower case without blanks and
// dashes.
var usualNames = map[string][]string{
	"key": {"path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath",
		"sourceurl", "frompath", "fromurl", "redirectfrom"},
	"destination": {"new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath",
		"destinationurl", "topath", "tourl", "redirectto", "redirecturl"},
	"status": {"statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode",
		"redirectstatus", "responsecode"},
}

// usualName returns our name for a usual name of a column, or "". isType says that it is a status
// only if it contains one.
func usualName(name string) (own string, isType bool) {
	name = plainName(name)
	for own, usual := range usualNames {
		if slices.Contains(usual, name) {
			return own, false
		}
	}
	if slices.Contains([]string{"type", "redirect", "redirecttype"}, name) {
		return "status", true
	}
	return "", false
}

// saidColumns returns our names for the columns that the command line or a pair names, and "" for
// the others.
func (u *genericTable) saidColumns(header []string) []string {
	said := make([]string, len(header))
	plain := make([]string, len(header))
	for i, name := range header {
		plain[i] = plainName(name)
	}
	if u.given != nil {
		for own, name := range u.given {
			if i := slices.Index(plain, plainName(name)); i >= 0 {
				said[i], _ = rulefile.ColumnName(own)
			}
		}
		return said
	}
	pairs := columnPairs
	for _, name := range plain {
		rest, isOld := strings.CutPrefix(name, "old")
		if isOld && strings.HasSuffix(rest, "url") { // Old Page URL, New Page URL
			pairs = append(pairs[:len(pairs):len(pairs)], [2]string{name, "new" + rest})
		}
	}
	for _, pair := range pairs {
		key, to := slices.Index(plain, pair[0]), slices.Index(plain, pair[1])
		if key >= 0 && to >= 0 {
			said[key], said[to] = "key", "destination"
			return said
		}
	}
	return said
}

// plainName returns the name of a column in lower case without blanks and dashes.
func plainName(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
}

// checkColumns returns an error if a header lacks a column that the command line names.
func (u *genericTable) checkColumns(header []string) error {
	for _, name := range u.given {
		is := func(field string) bool { return plainName(field) == plainName(name) }
		if !slices.ContainsFunc(header, is) {
			return u.headerError("the first row has no column " + printable.Quote(name) + ", which " +
				"--columns names; it has " + migrate.QuoteAll(header))
		}
	}
	if !u.rows.IsHeader(header) {
		return u.headerError("the first row does not name the columns of key and destination: " +
			migrate.QuoteAll(header) + "; say which they are with --columns key=NAME,to=NAME")
	}
	return nil
}

// headerError returns an error about the first row.
func (u *genericTable) headerError(message string) error {
	return rulefile.Errors{{Position: u.rows.At(0), Message: message}}
}
