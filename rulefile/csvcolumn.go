package rulefile

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// csvColumn is what a column of a table holds.
type csvColumn uint8

const (
	// noColumn holds nothing.
	noColumn csvColumn = iota
	keyColumn
	destinationColumn
	statusColumn
	exactColumn
	unlistedColumn
	queryColumn
	noteColumn
	// unknownColumn holds something that is not looked at: requests, which coverage writes.
	unknownColumn
	// strayColumn has a name that makes the header an error.
	strayColumn
)

// csvColumns are all columns, in the order in which they are written.
var csvColumns = [...]csvColumn{
	keyColumn, destinationColumn, statusColumn, exactColumn, unlistedColumn, queryColumn,
	noteColumn,
}

// fewColumns is how many of them stand where no header says which, in their order.
const fewColumns = 5

// name returns the column's name, as it is written into a header.
func (c csvColumn) name() string {
	switch c {
	case keyColumn:
		return "key"
	case destinationColumn:
		return "destination"
	case statusColumn:
		return "status"
	case exactColumn:
		return "exact"
	case unlistedColumn:
		return "unlisted"
	case queryColumn:
		return "query"
	case noteColumn:
		return "note"
	}
	return "nothing"
}

// columnNamed returns the column that a field of a header names, in letters of either case.
func columnNamed(name string) (c csvColumn, ok bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "":
		return noColumn, true
	case "key", "from", "source", "short", "slug":
		return keyColumn, true
	case "destination", "to", "target", "url":
		return destinationColumn, true
	case "status", "code":
		return statusColumn, true
	case "exact":
		return exactColumn, true
	case "unlisted":
		return unlistedColumn, true
	case "query":
		return queryColumn, true
	case "note":
		return noteColumn, true
	case "requests":
		return unknownColumn, true
	}
	return strayColumn, false
}

// ColumnName returns the name under which a column is written that a header calls so. ok is false
// for a name that no column of ours has.
func ColumnName(name string) (own string, ok bool) {
	switch c, ok := columnNamed(name); c {
	case noColumn:
		return "", true
	case unknownColumn:
		return name, true
	default:
		return c.name(), ok
	}
}

// UsualColumnName returns the name of the column that a table of redirects often calls so, "" for
// none. isType tells that it is a status only where it holds one.
func UsualColumnName(name string) (own string, isType bool) {
	switch strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name)) {
	case "path", "alias", "origin", "old", "oldpath", "oldurl", "sourcepath", "sourceurl", "frompath",
		"fromurl", "redirectfrom":
		return "key", false
	case "new", "newpath", "newurl", "targetpath", "targeturl", "destinationpath", "destinationurl",
		"topath", "tourl", "redirectto", "redirecturl":
		return "destination", false
	case "statuscode", "httpstatus", "httpcode", "httpstatuscode", "redirectcode", "redirectstatus",
		"responsecode":
		return "status", false
	case "type", "redirect", "redirecttype":
		return "status", true
	}
	return "", false
}

// named returns the columns that a row names, also with the names that they have in its table.
func (c *Rows) named(row []string) (columns []csvColumn) {
	if c.Renaming.Header == nil {
		return columnsOf(row)
	}
	columns = columnsOf(c.Renaming.Header(row))
	for i, column := range columns {
		if column == noColumn && row[i] != "" {
			columns[i] = strayColumn
		}
	}
	return columns
}

// columnsOf returns the columns that a row names.
func columnsOf(row []string) (columns []csvColumn) {
	for _, field := range row {
		column, _ := columnNamed(field)
		columns = append(columns, column)
	}
	return columns
}

// IsHeader reports whether a first row names columns: the key's is there, that of the destination
// where the key's is not called as in a source, and nothing that looks like a value.
func (c *Rows) IsHeader(row []string) bool {
	isValue := func(field string) bool {
		return strings.Contains(field, "/") || resolver.IsValue(field)
	}
	namesKey := slices.Contains(columnsOf(row), keyColumn)
	if !namesKey && c.Renaming.Header != nil {
		named := c.named(row)
		namesKey = slices.Contains(named, keyColumn) && slices.Contains(named, destinationColumn)
	}
	return namesKey && !slices.ContainsFunc(row, isValue)
}

// readHeader takes the order of columns from a row that names them. It reports false where
// they make no rules.
func (c *Rows) readHeader(row []string) (ok bool) {
	c.columns, c.hasHeader = c.named(row), true
	for i, field := range row {
		if err := c.errs.tooMany(c.At(i)); err != nil {
			c.errs = append(c.errs, err)
			return false
		}
		switch column := c.columns[i]; {
		case column == strayColumn && c.Renaming.Header != nil:
		case column == strayColumn:
			c.errs.add(c.At(i), "there is no column %s; the columns are %s; what a table has "+
				"beside them is left out by caddy shortlink convert --from csv --to csv",
				quote(field), namesOf(csvColumns[:]))
		case column != noColumn && slices.Contains(c.columns[:i], column):
			c.errs.add(c.At(i), "%q is a second column for the %s; remove one of the two",
				field, column.name())
		}
	}
	if !slices.Contains(c.columns, destinationColumn) {
		c.errs.add(c.lines.position(1), "no column is called destination; the columns are %s",
			namesOf(csvColumns[:]))
		return false
	}
	return true
}

// namesOf lists columns, as many as a person reads.
func namesOf(columns []csvColumn) string {
	const most = 20
	var names []string
	for _, column := range columns[:min(len(columns), most)] {
		names = append(names, column.name())
	}
	if len(columns) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// set puts a field of the column into a rule, or says what is wrong with it.
func (c csvColumn) set(rule *resolver.Rule, field string) error {
	switch c {
	case keyColumn:
		rule.Key = field
		return checkKeyField(field)
	case destinationColumn:
		rule.Value = field
		return checkText(field)
	case noteColumn:
		rule.Note = field
		return checkText(field)
	}
	if field == "" || c == unknownColumn || c == strayColumn {
		return nil
	}
	if want, ok := c.setWord(rule, field); !ok {
		message := "this column holds " + want + ", not " + quote(field)
		if c == statusColumn {
			message += InsteadOfStatus(field)
		}
		return errors.New(message)
	}
	return nil
}

// setWord is set for a field that can be empty, and is not. It tells what the column can hold.
func (c csvColumn) setWord(rule *resolver.Rule, word string) (want string, ok bool) {
	switch c {
	case statusColumn:
		rule.Status, ok = statusCode(word)
		return statusCodes, ok
	case exactColumn:
		rule.Exact = word == c.name()
		return "the word exact, or nothing", rule.Exact
	case unlistedColumn:
		rule.Unlisted = word == c.name()
		return "the word unlisted, or nothing", rule.Unlisted
	case queryColumn:
		rule.Query, ok = ParseQueryMode(word)
		return QueryModes + ", or nothing", ok
	}
	return "nothing", false
}

// checkKeyField refuses a key that cannot be written as one.
func checkKeyField(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case key[0] == '#':
		return errors.New("a key does not begin with \"#\", as a comment does; for a number sign " +
			"in the path write %23")
	}
	return checkText(key)
}
