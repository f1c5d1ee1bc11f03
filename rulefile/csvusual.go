package rulefile

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// A table that is converted may be one of redirects that nobody has made for us, with other names
// for its columns, and with other words for a status.

// usualColumn returns the column that a table of redirects often calls so.
func usualColumn(name string) csvColumn {
	switch strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name)) {
	case "path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath", "sourceurl", "frompath",
		"fromurl", "redirectfrom":
		return keyColumn
	case "new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath", "destinationurl",
		"topath", "tourl", "redirectto", "redirecturl":
		return destinationColumn
	case "statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode", "redirectstatus",
		"responsecode":
		return statusColumn
	case "type", "redirect", "redirecttype":
		return typeColumn
	}
	return strayColumn
}

// takeUsualNames finds columns by their usual names, where none has the proper one.
func takeUsualNames(columns []csvColumn, row []string) {
	proper := slices.Compact(slices.Sorted(slices.Values(columns)))
	for i, column := range columns {
		usual := usualColumn(row[i])
		if column == strayColumn && !slices.Contains(proper, usual) {
			columns[i] = usual
		}
	}
	if !slices.Contains(columns, statusColumn) {
		return
	}
	for i, column := range columns {
		if column == typeColumn {
			columns[i] = strayColumn
		}
	}
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
	if code, ok = ParseStatus(text); !ok {
		code, ok = statusCode(number)
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

// usualField returns what a field of a table that is converted is in one of rules, with its column.
// A status goes into the rule, also 410.
func (c *csvReader) usualField(
	i int, rule *resolver.Rule, field string,
) (column csvColumn, own string, err error) {
	switch column = c.columns[i]; {
	case column == keyColumn:
		own, err = c.withoutHost(field)
		return column, own, err
	case field == "":
		return column, field, nil
	case column == strayColumn || column == typeColumn && !isOfStatus(field):
		c.passed[i].holds(field)
		return strayColumn, field, nil
	case column != statusColumn && column != typeColumn:
		return column, field, nil
	}
	code, ok := usualStatus(field)
	if !ok {
		err = errors.New("this column holds " + StatusWords + ", or 410, not " + quote(field) +
			insteadOfStatus(field))
	}
	rule.Status = code
	return strayColumn, "", err
}

// withoutHost returns the path of a key that is a URL of the site, and any other key as it is.
func (c *csvReader) withoutHost(key string) (string, error) {
	host, path, isURL := cutHost(key)
	if !isURL {
		return key, nil
	}
	if name, err := weburl.ParseHost(host); err != nil || !slices.Contains(c.hosts, name) {
		return "", errOtherHost(host)
	}
	return path, nil
}

// passedOver is a column that says nothing, or not in each row.
type passedOver struct {
	name string
	at   resolver.Position
	// hasStatus tells that it holds a status, and hasOther that it holds something else.
	hasStatus, hasOther bool
}

// passOver takes down a column to pass over.
func (c *csvReader) passOver(i int, name string) {
	if c.passed == nil {
		c.passed = make(map[int]*passedOver)
	}
	c.passed[i] = &passedOver{name: strings.Clone(name), at: c.fieldPosition(i)}
}

// holds takes down what the column holds.
func (p *passedOver) holds(field string) {
	_, isStatus := usualStatus(field)
	p.hasStatus, p.hasOther = p.hasStatus || isStatus, p.hasOther || !isStatus
}

// tellOfPassedOver says which columns say nothing. One with nothing but statuses is an error.
func (c *csvReader) tellOfPassedOver() {
	var names []string
	for i, column := range c.columns {
		p := c.passed[i]
		if p == nil || column == typeColumn && !p.hasOther {
			continue
		}
		names = append(names, p.name)
		if p.hasStatus && !p.hasOther && !slices.Contains(c.columns, statusColumn) {
			c.errs.add(p.at, "the column %s, which is passed over, holds nothing but statuses; call it "+
				"status, or remove it", quote(p.name))
		}
	}
	if names != nil {
		c.warnings.add(WarnWholeTable, resolver.Position{}, "",
			"columns that say nothing here are passed over: %s", quotedList(names))
	}
}
