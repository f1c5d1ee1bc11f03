package tables

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// usual is a table of redirects that nobody has made for us, or our own: it may have other names for
// its columns, and other words for a status.
type usual struct {
	t      migrate.Table
	rows   *rulefile.Rows
	names  []string // of the columns here, or nil without a header
	others []otherColumn
	isGone bool // what the row is for
}

// otherColumn is a column that says nothing, or not in each row.
type otherColumn struct {
	name string
	at   resolver.Position
	// isType tells that it is one of statuses where it holds one; hasStatus and hasOther that it holds
	// a status, or something else.
	isType, hasStatus, hasOther bool
}

func newUsual(in migrate.Input) *usual {
	u := &usual{t: migrate.Table{Reading: in.Reading}, rows: rulefile.NewRows(in.Reader, in.Source)}
	u.rows.Renaming = rulefile.Renaming{Header: u.rename, Field: u.field}
	return u
}

// readRules reads a table of rules whose first row has been read, or an error instead.
func (u *usual) readRules(
	first []string, inFirst error, add func(resolver.Rule),
) (found migrate.Found, err error) {
	found.Warnings, err = u.t.Reading.ReadRows(u.rows, first, inFirst, func(rule resolver.Rule) {
		if u.isGone {
			rule.Value = resolver.GoneValue
		}
		add(rule)
	})
	return u.tellOfOthers(found, err)
}

// rename returns the names that columns have here. Where one has the proper name, no other is taken
// for it.
func (u *usual) rename(header []string) []string {
	u.names, u.others = make([]string, len(header)), make([]otherColumn, len(header))
	var proper []string
	for i, name := range header {
		if own, ok := rulefile.ColumnName(name); ok {
			u.names[i], proper = own, append(proper, own)
		}
	}
	isStatus := slices.Contains(proper, "status")
	for _, name := range header {
		own, isType := rulefile.UsualColumnName(name)
		isStatus = isStatus || own == "status" && !isType
	}
	for i, name := range header {
		if _, ok := rulefile.ColumnName(name); ok {
			continue
		}
		own, isType := rulefile.UsualColumnName(name)
		if own != "" && !slices.Contains(proper, own) && !(isType && isStatus) {
			u.names[i] = own
		}
		u.others[i] = otherColumn{name: strings.Clone(name), at: u.rows.At(i),
			isType: isType && u.names[i] != ""}
	}
	return u.names
}

// statusGone is the status that a table of redirects has for what is gone.
const statusGone = 410

// usualStatus returns the status that a field stands for, 410 for what is gone.
func usualStatus(field string) (code int, ok bool) {
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

// isOfStatus reports whether a field of a column that may hold something else is about a status.
func isOfStatus(field string) bool {
	text := strings.ToLower(strings.TrimSpace(field))
	_, is := usualStatus(text)
	return is || strings.Contains(text, "permanent") || strings.Contains(text, "tempora") ||
		text != "" && text[0] >= '0' && text[0] <= '9'
}

// field returns what a field is in a table of rules.
func (u *usual) field(i int, column, field string) (own string, err error) {
	u.isGone = u.isGone && i > 0
	var other *otherColumn
	if u.rows.HasHeader() && i < len(u.others) && u.others[i].name != "" && (u.names[i] == "" || u.others[i].isType) {
		other = &u.others[i]
	}
	switch {
	case column == "key":
		return u.withoutHost(field)
	case field == "":
		return field, nil
	case other != nil && !(other.isType && isOfStatus(field)):
		_, isStatus := usualStatus(field)
		other.hasStatus, other.hasOther = other.hasStatus || isStatus, other.hasOther || !isStatus
		return "", nil
	case column != "status":
		return field, nil
	}
	code, ok := usualStatus(field)
	if !ok {
		return "", errors.New("this column holds " + rulefile.StatusWords + ", or 410, not " +
			migrate.Quote(field) + rulefile.InsteadOfStatus(field))
	}
	if u.isGone = code == statusGone; u.isGone {
		return "", nil
	}
	return strconv.Itoa(code), nil
}

// withoutHost returns the path of a key that is a URL of the site, and any other key as it is.
func (u *usual) withoutHost(key string) (string, error) {
	host, path, isURL := migrate.CutURL(key)
	switch {
	case !isURL:
		return key, nil
	case !u.t.HasHost(host):
		return "", migrate.OtherHost(host)
	}
	return path, nil
}

// tellOfOthers says which columns say nothing. One with nothing but statuses is an error.
func (u *usual) tellOfOthers(found migrate.Found, err error) (migrate.Found, error) {
	if !u.rows.HasHeader() {
		return found, err
	}
	var names []string
	for i, other := range u.others {
		if other.name == "" || u.names[i] != "" && !(other.isType && other.hasOther) {
			continue
		}
		names = append(names, other.name)
		if other.hasStatus && !other.hasOther && !slices.Contains(u.names, "status") {
			wrong := &rulefile.Error{Position: other.at, Message: "the column " +
				migrate.Quote(other.name) + ", which is passed over, holds nothing but statuses; call it " +
				"status, or remove it"}
			listed, _ := errors.AsType[rulefile.Errors](err)
			err = append(listed, wrong)
		}
	}
	if names != nil {
		found.Warnings = slices.Insert(found.Warnings, 0, resolver.Warning{
			Kind:    rulefile.WarnWholeTable,
			Message: "columns that say nothing here are passed over: " + migrate.QuoteAll(names)})
	}
	return found, err
}

// isOtherHeader reports whether a first row seems to be a header that names no key: it names a URL
// or a link, or has words, or one where the status stands, and nothing in it looks like a path, a
// URL, or a value.
func isOtherHeader(first []string) bool {
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
	_, isStatus := usualStatus(first[min(2, len(first)-1)])
	return slices.ContainsFunc(first[:2], isHeading) ||
		len(first) > 2 && !isStatus && !slices.Contains(first[:3], "")
}
