package rulefile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Renaming adapts the reading of a table with other column names, or other words in its fields. The
// zero value is for our own tables.
type Renaming struct {
	// Header returns, for the columns of a first row, the names that [ColumnName] knows; "" for one
	// to skip.
	Header func(row []string) []string
	// Field returns our text for the i-th field of a row, in a column with this name. It is called
	// for the fields of a row in order.
	Field func(i int, column, field string) (own string, err error)
}

// ReadRows reads the rules of a table after its first row. err is the error of [Rows.Next] for that
// row. Warnings and error are those of [Reading.Read].
func (o Reading) ReadRows(
	c *Rows, row []string, err error, add func(resolver.Rule),
) ([]lint.Warning, error) {
	c.isExact, add = o.isExact(), o.withDefaults(add)
	if err == nil && c.IsHeader(row) {
		if err = c.readHeader(row); err == nil {
			row, err = c.Next()
		}
	}
	for ; err == nil; row, err = c.Next() {
		errsBefore := len(c.reports.errs)
		c.readRule(row)
		if len(c.reports.errs) == errsBefore && c.reports.end == nil {
			c.pass(add)
		}
	}
	byPlace := func(a, b []schedule.Window) int {
		return a[0].Rule.Position.ComparePlace(b[0].Rule.Position)
	}
	bySince := func(a, b schedule.Window) int { return cmp.Compare(a.Since, b.Since) }
	for _, windows := range slices.SortedFunc(maps.Values(c.held), byPlace) {
		rule := windows[0].Rule
		slices.SortStableFunc(windows, bySince)
		if c.reports.join(&rule, windows, "the key "+quote(rule.Key)+" has several rows") {
			add(rule)
		}
	}
	return c.reports.Result(err)
}

// pass passes on the rule of the last row, or holds a row with a window: all such rows of a key are
// one rule, which is passed on when the table has been read.
func (c *Rows) pass(add func(resolver.Rule)) {
	if c.seen != nil {
		c.seen()
	}
	if c.rule.IsAlways() {
		add(c.rule.Rule)
		return
	}
	w := c.rule
	w.Rule = w.Rule.Clone()
	c.held[w.Rule.Key] = append(c.held[w.Rule.Key], w)
}

// Rows reads the rows of a table. An unbalanced quotation mark spoils only its own row, because the
// library gets one line at a time. As the library is slow, it gets only lines with such marks.
type Rows struct {
	lines  *LineReader
	line   bytes.Reader
	quoted *csv.Reader
	// The fields of the last row, and their columns in its line.
	row     []string
	starts  []int
	lends   bool // fields are valid only until the next row
	columns []*property
	// hasHeader: the first row names the columns.
	hasHeader bool
	hasSlash  bool                         // the key of the last row has a slash in front
	isExact   bool                         // of rules that do not say it
	rule      schedule.Window              // the last one, here to avoid an allocation per row
	held      map[string][]schedule.Window // by key
	seen      func()                       // called after each row that is good; nil for nothing
	// Renaming is for tables of other programs.
	Renaming Renaming
	reports  Reports
}

// NewRows returns a reader of the rows of a table.
func NewRows(r io.Reader, source string) *Rows {
	c := &Rows{lines: NewLineReader(r, source), columns: properties[:fewColumns],
		held: make(map[string][]schedule.Window)}
	c.quoted = csv.NewReader(&c.line)
	c.quoted.Comma, c.quoted.FieldsPerRecord, c.quoted.ReuseRecord = 0, -1, true
	return c
}

// Next returns the fields of the next row that is not blank; they are valid until the next call.
// The error is io.EOF after the last row, an [*Error] that ends the reading, or the reader's own.
func (c *Rows) Next() ([]string, error) {
	for {
		line, err := c.lines.Next()
		if err = cmp.Or(c.reports.end, err); err != nil {
			return nil, err
		}
		if c.quoted.Comma == 0 {
			c.quoted.Comma = separatorOf(line)
		}
		if err := c.split(line); err != nil {
			c.reportSyntax(err)
		} else if slices.ContainsFunc(c.row, isFilled) { // spreadsheets also write other rows
			return c.row, nil
		}
	}
}

// HasHeader reports whether the first row names the columns.
func (c *Rows) HasHeader() bool { return c.hasHeader }

// Errors returns the errors of rows that could not be split into fields.
func (c *Rows) Errors() Errors { return c.reports.errs }

// split splits a line into the fields of its row.
func (c *Rows) split(line []byte) (err error) {
	c.starts = c.starts[:0]
	if bytes.IndexByte(line, '"') < 0 && bytes.IndexByte(line, '\r') < 0 {
		c.splitPlain(textOf(line, c.lends)) // one allocation for all fields
		return nil
	}
	c.line.Reset(line)
	c.row, err = c.quoted.Read()
	for i := range c.row {
		_, column := c.quoted.FieldPos(i)
		c.starts = append(c.starts, column-1)
	}
	return err
}

// splitPlain splits a line that has no quotation marks.
func (c *Rows) splitPlain(line string) {
	c.row = c.row[:0]
	separator := byte(c.quoted.Comma)
	for start := 0; ; {
		c.starts = append(c.starts, start)
		end := strings.IndexByte(line[start:], separator)
		if end < 0 {
			c.row = append(c.row, line[start:])
			return
		}
		c.row = append(c.row, line[start:start+end])
		start += end + 1
	}
}

// separatorOf returns the separator of columns. Only the key is before the first one, so one in a
// URL does not matter.
func separatorOf(line []byte) rune {
	if bytes.IndexByte(line, '\t') >= 0 {
		return '\t' // keys and destinations cannot contain it
	}
	quoted := false
	for _, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case !quoted && (b == ',' || b == ';'):
			return rune(b)
		}
	}
	return ','
}

// reportSyntax reports the library's error of a line.
func (c *Rows) reportSyntax(err error) {
	column := 1
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		column, err = syntax.Column, syntax.Err
	}
	message := "a field in quotation marks has no end, or is followed by text; inside it " +
		`write "" for a quotation mark`
	if err == csv.ErrBareQuote {
		message = "there is a quotation mark inside a field; put the whole field into quotation " +
			`marks, and write "" for the one inside`
	}
	c.reports.wrong(c.lines.At(column), "%s", message)
}

func isFilled(field string) bool { return field != "" }

// readRule makes a rule from a row, or reports its errors.
func (c *Rows) readRule(row []string) {
	if c.isExchanged(row) {
		return
	}
	c.rule.Rule = resolver.Rule{Exact: c.isExact}
	c.rule.Since, c.rule.Until = schedule.Begin, schedule.End
	for i, field := range row[:min(len(row), len(c.columns))] {
		if err := c.readField(i, field); err != nil {
			c.reports.wrong(c.At(i), "%s", err)
		}
	}
	c.checkRest(row)
	for _, needed := range []*property{keyProperty, destinationProperty} {
		if slices.Index(c.columns, needed) >= len(row) {
			c.reports.wrong(c.lines.At(1), "the row has no %s: a row is %s, with %s between them",
				needed.name, namesOf(c.columns), separatorNames[c.quoted.Comma])
		}
	}
}

// isExchanged reports whether key and destination of a row are exchanged, and reports the error. A
// key that is a URL may be meant if the destination is a path.
func (c *Rows) isExchanged(row []string) bool {
	key, to := slices.Index(c.columns, keyProperty), slices.Index(c.columns, destinationProperty)
	if max(key, to) >= len(row) || strings.HasPrefix(row[to], "/") {
		return false
	}
	if _, is := resolver.Exchanged(resolver.Rule{Key: row[key], Value: row[to]}); !is {
		return false
	}
	swapped := func(row []string) string {
		row = slices.Clone(row)
		row[key], row[to] = row[to], row[key]
		return rowText(row, c.quoted.Comma)
	}
	instead := swapped(row)
	if !c.hasHeader {
		names := strings.Split(namesOf(c.columns[:min(len(row), len(c.columns))]), ", ")
		instead += "; or put a header first: " + swapped(names)
	}
	c.reports.wrong(c.lines.At(1), "key and destination are exchanged; write %s", instead)
	return true
}

// readField sets the i-th field of the row in the rule, or returns an error.
func (c *Rows) readField(i int, field string) (err error) {
	column := c.columns[i]
	if c.Renaming.Field != nil {
		if field, err = c.Renaming.Field(i, column.name, field); err != nil {
			return err
		}
	}
	if column == keyProperty {
		c.rule.Rule.Position = c.At(i)
		if field, c.hasSlash = cutSlash(field); c.hasSlash && c.reports.warnings == nil {
			c.reports.warn(WarnLeadingSlash, c.At(i), strings.Clone(field),
				"the table has keys that begin with \"/\", which is removed here and in all other rows: "+
					"a key is a path without it")
		}
	}
	return column.setField(&c.rule, field)
}

// cutSlash removes the slash that tables of paths have in front of keys.
func cutSlash(field string) (key string, cut bool) {
	if len(field) < 2 || field[0] != '/' || field[1] == '/' {
		return field, false
	}
	return field[1:], true
}

// checkRest reports the first field after the last column that is not empty.
func (c *Rows) checkRest(row []string) {
	n := len(c.columns)
	if i := n + slices.IndexFunc(row[min(n, len(row)):], isFilled); i >= n {
		c.reports.wrong(c.At(i), "the table has %d columns (%s), but %s is in column %d; remove it, or "+
			"put a field that contains %s into quotation marks", n, namesOf(c.columns), quote(row[i]), i+1,
			separatorNames[c.quoted.Comma])
	}
}

var separatorNames = map[rune]string{',': "a comma", ';': "a semicolon", '\t': "a tab"}

// At returns the position of the i-th field of the row.
func (c *Rows) At(i int) resolver.Position {
	return c.lines.At(c.starts[i] + 1)
}
