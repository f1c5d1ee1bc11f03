package tables

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// column is a column of a header.
type column struct {
	name      string
	own       string // its name here, "" for none
	known     certainty
	isSkipped bool // some of its fields have been skipped
}

// certainty says how well the meaning of a column is known. Of several with the same meaning, those
// that are known best have it.
type certainty int

const (
	unknown certainty = iota
	perhaps           // it is a status only in fields that look like one
	usual             // it has a name that such tables use
	said              // it has our name, or the command line or its neighbour says what it is
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

// namesOfTypes are names of columns that often hold a status.
var namesOfTypes = []string{"type", "redirect", "redirecttype"}

// meaningOf returns our name for a column.
func meaningOf(name string) (own string, known certainty) {
	own, isOurs := rulefile.ColumnName(name)
	if isOurs {
		return own, said
	}
	name = plainName(name)
	for own, names := range usualNames {
		if slices.Contains(names, name) {
			return own, usual
		}
	}
	if slices.Contains(namesOfTypes, name) {
		return "status", perhaps
	}
	return "", unknown
}

// rename returns the rule file's names for the columns.
func (u *genericTable) rename(header []string) (names []string) {
	u.columns = nil
	best, named := map[string]certainty{}, u.namedColumns(header)
	for _, name := range header {
		c := column{name: strings.Clone(name), own: named[plainName(name)], known: said}
		if c.own == "" {
			c.own, c.known = meaningOf(name)
		}
		best[c.own] = max(best[c.own], c.known)
		u.columns = append(u.columns, c)
	}
	for i := range u.columns {
		c := &u.columns[i]
		if c.known < best[c.own] {
			c.own, c.known = "", unknown
		}
		names = append(names, c.own)
		isWindow := c.own == "since" || c.own == "until"
		u.isUnstated = u.isUnstated && c.own != "exact" && !isWindow
	}
	return names
}

// namedColumns returns our names for the columns that the command line or a pair names, by their
// plain names.
func (u *genericTable) namedColumns(header []string) map[string]string {
	named := map[string]string{}
	for own, name := range u.Columns {
		named[plainName(name)], _ = rulefile.ColumnName(own)
	}
	if u.Columns != nil {
		return named
	}
	plain, pairs := make([]string, len(header)), slices.Clone(columnPairs)
	for i, name := range header {
		plain[i] = plainName(name)
		rest, isOld := strings.CutPrefix(plain[i], "old")
		if isOld && strings.HasSuffix(rest, "url") { // Old Page URL, New Page URL
			pairs = append(pairs, [2]string{plain[i], "new" + rest})
		}
	}
	for _, pair := range pairs {
		if slices.Contains(plain, pair[0]) && slices.Contains(plain, pair[1]) {
			return map[string]string{pair[0]: "key", pair[1]: "destination"}
		}
	}
	return nil
}

// plainName returns the name of a column in lower case without blanks and dashes.
func plainName(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
}

// skips reports whether to skip a field, and records that.
func (c *column) skips(field string) bool {
	isSkipped := field != "" && c.known <= perhaps && (c.known < perhaps || !looksLikeStatus(field))
	c.isSkipped = c.isSkipped || isSkipped
	return isSkipped
}

// looksLikeStatus reports whether a field that may hold other things looks like a status.
func looksLikeStatus(field string) bool {
	_, is := parseStatus(field)
	text := strings.ToLower(field)
	return is || strings.Contains(text, "permanent") || strings.Contains(text, "tempora") ||
		text[0] >= '0' && text[0] <= '9'
}

// checkHeader returns what is wrong with a first row that names columns: it lacks that of the key,
// that of the destination, or one that the command line names.
func (u *genericTable) checkHeader(first []string) string {
	for _, name := range slices.Sorted(maps.Values(u.Columns)) {
		is := func(field string) bool { return plainName(field) == plainName(name) }
		if !slices.ContainsFunc(first, is) {
			return "the first row has no column " + printable.Quote(name) + ", which --columns names; it " +
				"has " + migrate.QuoteAll(first)
		}
	}
	if u.rows.IsHeader(first) || u.Columns == nil && !isHeaderWithoutKey(first) {
		return ""
	}
	return "the header has no column for the key, or none for the destination: " +
		migrate.QuoteAll(first) + "; name the columns key and destination, or say which they are with " +
		"--columns key=NAME,to=NAME"
}

// isHeaderWithoutKey reports whether a first row seems to be a header without a key column. Such a
// row names a URL or a link, or has words where the status belongs. No field looks like a path, a
// URL, or a value.
func isHeaderWithoutKey(first []string) bool {
	isHeading := func(field string) bool {
		name := strings.ToLower(strings.TrimSpace(field))
		return strings.Contains(name, " ") || strings.HasSuffix(name, "url") ||
			strings.HasSuffix(name, "link")
	}
	isValue := func(field string) bool {
		return strings.ContainsAny(field, "/.:") || resolver.IsValue(field)
	}
	if len(first) < 2 || slices.ContainsFunc(first[:2], isValue) {
		return false
	}
	_, isStatus := parseStatus(first[min(2, len(first)-1)])
	return slices.ContainsFunc(first[:2], isHeading) ||
		len(first) > 2 && !isStatus && !slices.Contains(first[:3], "")
}
