package rulefile

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// named returns the columns that a row names, in our words or those of its table.
func (c *Rows) named(row []string) (columns []*property) {
	names := row
	if c.Renaming.Header != nil {
		names = c.Renaming.Header(row)
	}
	for i, name := range names {
		column := propertyNamed(name)
		if column == noProperty && strings.TrimSpace(row[i]) != "" {
			column = strayProperty
		}
		columns = append(columns, column)
	}
	return columns
}

// IsHeader reports whether a first row names columns: the key's and, unless that is called as in a
// source, the destination's, and nothing that looks like a value.
func (c *Rows) IsHeader(row []string) bool {
	isKey := func(field string) bool { return propertyNamed(field) == keyProperty }
	isValue := func(field string) bool {
		return strings.Contains(field, "/") || resolver.IsValue(field)
	}
	switch {
	case slices.ContainsFunc(row, isValue):
		return false
	case slices.ContainsFunc(row, isKey):
		return true
	}
	named := c.named(row)
	return slices.Contains(named, keyProperty) && slices.Contains(named, destinationProperty)
}

// readHeader sets the order of columns from a row that names them. An error ends the reading.
func (c *Rows) readHeader(row []string) error {
	c.columns, c.hasHeader = c.named(row), true
	for i, field := range row {
		switch column := c.columns[i]; {
		case column == strayProperty && c.Renaming.Header != nil:
		case column == strayProperty:
			c.reports.wrong(c.At(i), "there is no column %s; the columns are %s; other columns of a "+
				"table are left out by caddy shortlink convert --from csv --to csv",
				quote(field), namesOf(properties))
		case column != noProperty && slices.Contains(c.columns[:i], column):
			c.reports.wrong(c.At(i), "%q is a second column for the %s; remove one of the two",
				field, column.name)
		}
	}
	if !slices.Contains(c.columns, destinationProperty) {
		c.reports.fail(&Error{c.lines.At(1), "no column is called destination; the columns are " +
			namesOf(properties)})
	}
	return c.reports.end
}

// namesOf lists columns.
func namesOf(columns []*property) string {
	var names []string
	for _, column := range columns {
		names = append(names, column.name)
	}
	return strings.Join(names, ", ")
}
