package rulefile

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// named returns the columns that a row names, also with the names that they have in its table.
func (c *Rows) named(row []string) []*property {
	if c.Renaming.Header == nil {
		return columnsOf(row)
	}
	columns := columnsOf(c.Renaming.Header(row))
	for i, column := range columns {
		if column == noProperty && row[i] != "" {
			columns[i] = strayProperty
		}
	}
	return columns
}

// columnsOf returns the columns that a row names.
func columnsOf(row []string) (columns []*property) {
	for _, field := range row {
		columns = append(columns, propertyNamed(field))
	}
	return columns
}

// IsHeader reports whether a first row names columns: the key's is there, that of the destination
// where the key's is not called as in a source, and nothing that looks like a value.
func (c *Rows) IsHeader(row []string) bool {
	isValue := func(field string) bool {
		return strings.Contains(field, "/") || resolver.IsValue(field)
	}
	namesKey := slices.Contains(columnsOf(row), keyProperty)
	if !namesKey && c.Renaming.Header != nil {
		named := c.named(row)
		namesKey = slices.Contains(named, keyProperty) && slices.Contains(named, destinationProperty)
	}
	return namesKey && !slices.ContainsFunc(row, isValue)
}

// readHeader takes the order of columns from a row that names them. The error is what ends the
// reading, as they make no rules.
func (c *Rows) readHeader(row []string) error {
	c.columns, c.hasHeader = c.named(row), true
	for i, field := range row {
		if err := c.errs.tooMany(c.At(i)); err != nil {
			return err
		}
		switch column := c.columns[i]; {
		case column == strayProperty && c.Renaming.Header != nil:
		case column == strayProperty:
			c.errs.add(c.At(i), "there is no column %s; the columns are %s; what a table has "+
				"beside them is left out by caddy shortlink convert --from csv --to csv",
				quote(field), namesOf(properties))
		case column != noProperty && slices.Contains(c.columns[:i], column):
			c.errs.add(c.At(i), "%q is a second column for the %s; remove one of the two",
				field, column.name)
		}
	}
	if !slices.Contains(c.columns, destinationProperty) {
		return &Error{c.lines.position(1), "no column is called destination; the columns are " +
			namesOf(properties)}
	}
	return nil
}

// namesOf lists columns, as many as a person reads.
func namesOf(columns []*property) string {
	const most = 20
	var names []string
	for _, column := range columns[:min(len(columns), most)] {
		names = append(names, column.name)
	}
	if len(columns) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
