package rulefile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// writeCSV writes rules as a table, in their order and with a header, separated by commas. The
// columns for query modes and notes are there only as far as rules need them, or if the table is
// large.
func writeCSV(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	t := tableWriter{w: w, columns: properties[:fewColumns]}
	t.rows = csv.NewWriter(&t.held)
	for rule := range rules {
		if err := checkInCSV(rule); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		if err := t.makeRoom(rule); err != nil {
			return err
		}
		t.write(rule)
	}
	if err := t.end(); err != nil {
		return err
	}
	return errs.orNil()
}

// mostHeld is how many bytes of rows are held until the columns are known.
const mostHeld = 16 << 20

// tableWriter writes rows, and holds them until it is known which columns the header has to name.
type tableWriter struct {
	w       io.Writer
	columns []*property
	rows    *csv.Writer
	held    bytes.Buffer
	isBegun bool
	fields  []string // here, so that a row allocates nothing
}

// makeRoom makes the columns that a rule needs. Rows are held until there are all, or the table is
// large.
func (t *tableWriter) makeRoom(rule resolver.Rule) error {
	needed := fewColumns
	switch {
	case rule.Note != "" || t.held.Len() > mostHeld:
		needed = len(properties)
	case rule.Query != resolver.QueryDefault:
		needed = len(properties) - 1
	}
	if t.isBegun || needed <= len(t.columns) {
		return nil
	}
	t.widen(properties[:needed])
	if needed < len(properties) {
		return nil
	}
	return t.begin()
}

// widen adds columns. Each row that is held gets an empty field for one more.
func (t *tableWriter) widen(columns []*property) {
	t.rows.Flush()
	more := strings.Repeat(",", len(columns)-len(t.columns)) + "\n"
	// no field has a line end
	held := bytes.ReplaceAll(t.held.Bytes(), []byte("\n"), []byte(more))
	t.held, t.columns = *bytes.NewBuffer(held), columns
}

// begin writes the header and the rows that are held.
func (t *tableWriter) begin() error {
	t.rows.Flush()
	t.isBegun, t.rows = true, csv.NewWriter(t.w)
	t.fields = t.fields[:0]
	for _, column := range t.columns {
		t.fields = append(t.fields, column.name)
	}
	t.rows.Write(t.fields) //nolint:errcheck // Error gives the first error of all that is written
	t.rows.Flush()
	if err := t.rows.Error(); err != nil {
		return err
	}
	_, err := t.held.WriteTo(t.w)
	t.held = bytes.Buffer{}
	return err
}

// end writes all that has not been written yet.
func (t *tableWriter) end() error {
	if !t.isBegun {
		if err := t.begin(); err != nil {
			return err
		}
	}
	t.rows.Flush()
	return t.rows.Error()
}

// write writes the row of a rule.
func (t *tableWriter) write(rule resolver.Rule) {
	t.fields = t.fields[:0]
	for _, column := range t.columns {
		t.fields = append(t.fields, column.get(rule))
	}
	t.rows.Write(t.fields) //nolint:errcheck // Error gives the first error of all that is written
}

// checkInCSV refuses a rule that no row can hold.
func checkInCSV(rule resolver.Rule) error {
	if err := cmp.Or(checkWritable(rule), checkKeyField(rule.Key)); err != nil {
		return err
	}
	if _, cut := cutSlash(rule.Key); cut {
		return errors.New("a key has no leading \"/\", and would be read without it; remove it")
	}
	if strings.Contains(rule.Key, "\n") || strings.Contains(rule.Value, "\n") {
		return errors.New("a row holds no line end; write it percent-encoded")
	}
	if strings.Contains(rule.Note, "\n") {
		return errors.New("a row holds no line end; write a space in the note")
	}
	return nil
}
