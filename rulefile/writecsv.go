package rulefile

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// writeCSV writes rules as a table, in order, with a header and commas. The columns for query
// modes, notes and windows are written only if rules need them, or the table is large.
func writeCSV(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	t := tableWriter{rows: csv.NewWriter(w), needed: fewColumns}
	for rule := range rules {
		n := len(t.held)
		t.held = schedule.AppendSplit(t.held, rule)
		if err := checkInCSV(rule, t.held[n:]); err != nil {
			errs.leaveOut(rule, err)
			t.held = t.held[:n]
		}
		t.noteColumns(t.held[n:])
	}
	t.release()
	t.rows.Flush()
	return cmp.Or(t.rows.Error(), errs.orNil()) // the first error of all writes
}

// mostHeld is how many bytes of keys and destinations are held until the columns are known.
const mostHeld = 16 << 20

// tableWriter writes rows. It holds rules until it knows which columns they need.
type tableWriter struct {
	rows      *csv.Writer
	hasHeader bool
	held      []schedule.Window
	size      int      // of their texts
	needed    int      // how many columns are needed
	fields    []string // here to avoid an allocation per row
}

// noteColumns notes which columns held rows need, and writes the rows once these are all.
func (t *tableWriter) noteColumns(rows []schedule.Window) {
	for i := range rows {
		t.size += len(rows[i].Rule.Key) + len(rows[i].Rule.Value)
		for n := len(properties); n > t.needed; n-- {
			if properties[n-1].get(&rows[i]) != "" || t.size > mostHeld {
				t.needed = n
			}
		}
	}
	if t.needed == len(properties) {
		t.release()
	}
}

// release writes the rows of the held rules, the first time after a header.
func (t *tableWriter) release() {
	columns := properties[:t.needed]
	if !t.hasHeader {
		t.hasHeader = true
		t.write(columns, func(column *property) string { return column.name })
	}
	for i := range t.held {
		t.write(columns, func(column *property) string { return column.get(&t.held[i]) })
	}
	t.held = t.held[:0]
}

// write writes a row. Errors are reported at the end.
func (t *tableWriter) write(columns []*property, field func(column *property) string) {
	t.fields = t.fields[:0]
	for _, column := range columns {
		t.fields = append(t.fields, field(column))
	}
	t.rows.Write(t.fields) //nolint:errcheck // Error returns it
}

// checkInCSV returns an error for a rule that no rows can contain.
func checkInCSV(rule resolver.Rule, rows []schedule.Window) error {
	if err := cmp.Or(checkWritable(rule), checkKeyField(rule.Key)); err != nil {
		return err
	}
	if _, cut := cutSlash(rule.Key); cut {
		return errors.New("the key begins with \"/\", and would be read without it; remove it")
	}
	for i := range rows {
		switch row := &rows[i].Rule; {
		case strings.ContainsAny(row.Key, "\r\n") || strings.ContainsAny(row.Value, "\r\n"):
			return errors.New("a row cannot contain a line end; write it percent-encoded")
		case strings.ContainsAny(row.Note, "\r\n"):
			return errors.New("a row cannot contain a line end; write a space in the note")
		}
	}
	return nil
}
