package tables

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// genericTable is a table of redirects from an unknown program, or one of our own. It accepts
// common synonyms for column names and statuses.
type genericTable struct {
	t       migrate.Table
	rows    *rulefile.Rows
	columns []genericColumn   // of the header
	given   map[string]string // names of columns by ours, from the command line
	isGone  bool              // the row marks a link as gone
	paths   pathKeys
}

// genericColumn is a column of a header.
type genericColumn struct {
	name string
	at   resolver.Position
	own  string // its name here, "" for none
	// isOurs reports whether the column already has our name. isType reports whether it counts as a
	// status only in fields that contain one.
	isOurs, isType bool
	// hasStatus and hasOther report whether skipped fields hold a status, or something else.
	hasStatus, hasOther bool
}

func newGenericTable(in migrate.Input) *genericTable {
	u := &genericTable{
		t: migrate.Table{Input: in}, rows: rulefile.NewRows(in.Reader, in.Source),
		given: in.Columns, paths: pathKeys{isUnstated: in.Reading.Exact == nil},
	}
	u.rows.Renaming = rulefile.Renaming{Header: u.rename, Field: u.field}
	return u
}

// readRules reads a table of rules. The caller has read its first row, or got an error instead.
func (u *genericTable) readRules(
	first []string, firstErr error, add func(resolver.Rule),
) (found migrate.ReadResult, err error) {
	found.Warnings, err = u.t.Reading.ReadRows(u.rows, first, firstErr, func(rule resolver.Rule) {
		if u.isGone {
			rule.Value = resolver.GoneValue
		}
		u.paths.add(rule, add)
	})
	found.Warnings = append(found.Warnings, u.paths.warnings()...)
	return u.warnOfSkipped(found, err)
}

// rename returns the rule file's names for the columns. A column with the proper name takes
// precedence over synonyms.
func (u *genericTable) rename(header []string) (names []string) {
	u.columns = nil
	proper := map[string]bool{}
	said := u.saidColumns(header)
	for i, name := range header {
		c := genericColumn{name: strings.Clone(name), at: u.rows.At(i)}
		if c.own = said[i]; c.own == "" {
			c.own, c.isOurs = rulefile.ColumnName(name)
		} else {
			c.isOurs = true
		}
		proper[c.own] = proper[c.own] || c.isOurs
		u.columns = append(u.columns, c)
	}
	hasStatus := false
	for i := range u.columns {
		c := &u.columns[i]
		if !c.isOurs {
			c.own, c.isType = usualName(c.name)
		}
		if !c.isOurs && proper[c.own] {
			c.own = ""
		}
		hasStatus = hasStatus || c.own == "status" && !c.isType
	}
	u.paths.isUnstated = u.paths.isUnstated && !proper["exact"] && !proper["since"] && !proper["until"]
	for i := range u.columns {
		if c := &u.columns[i]; c.isType && hasStatus {
			c.own = ""
		}
		names = append(names, u.columns[i].own)
	}
	return names
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

// looksLikeStatus reports whether a field looks like a status. It is for columns that may hold
// other things.
func looksLikeStatus(field string) bool {
	text := strings.ToLower(strings.TrimSpace(field))
	_, is := parseStatus(text)
	return is || strings.Contains(text, "permanent") || strings.Contains(text, "tempora") ||
		text != "" && text[0] >= '0' && text[0] <= '9'
}

// skips reports whether to skip a field of a column, and records its content.
func (c *genericColumn) skips(field string) bool {
	if c.isOurs || field == "" || c.own != "" && !(c.isType && !looksLikeStatus(field)) {
		return false
	}
	_, isStatus := parseStatus(field)
	c.hasStatus, c.hasOther = c.hasStatus || isStatus, c.hasOther || !isStatus
	return true
}

// field returns the value of a field for a table of rules.
func (u *genericTable) field(i int, column, field string) (own string, err error) {
	u.isGone = u.isGone && i > 0
	field = strings.TrimSpace(field)
	switch {
	case column == "key":
		u.paths.isPath = field != "" && field[0] == '/' || migrate.IsURL(field)
		return u.t.WithoutHost(field)
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

// warnOfSkipped warns of columns that are ignored. An ignored column with nothing but statuses is
// an error.
func (u *genericTable) warnOfSkipped(
	found migrate.ReadResult, err error,
) (migrate.ReadResult, error) {
	var names []string
	isStatus := func(c genericColumn) bool { return c.own == "status" }
	hasStatus := slices.ContainsFunc(u.columns, isStatus)
	for _, c := range u.columns {
		if !u.rows.HasHeader() || c.isOurs || c.own != "" && !c.hasOther {
			continue
		}
		names = append(names, c.name)
		if c.hasStatus && !c.hasOther && !hasStatus {
			listed, _ := errors.AsType[rulefile.Errors](err)
			err = append(listed, &rulefile.Error{Position: c.at, Message: "the column " +
				printable.Quote(c.name) + ", which is ignored, holds only statuses; call it status, or " +
				"remove it"})
		}
	}
	if names != nil {
		found.Warnings = slices.Insert(found.Warnings, 0, lint.Warning{
			Kind:    rulefile.WarnWholeTable,
			Message: "columns without a meaning here are ignored: " + migrate.QuoteAll(names)})
	}
	return found, err
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
