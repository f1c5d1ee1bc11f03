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
		if err := checkInCSV(rule); err != nil {
			errs.leaveOut(rule, err)
		} else {
			t.addRule(rule)
		}
	}
	t.release()
	t.rows.Flush()
	if err := t.rows.Error(); err != nil { // the first error of all writes
		return err
	}
	return errs.orNil()
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

// addRow holds a row.
func (t *tableWriter) addRow(row schedule.Window) {
	t.held = append(t.held, row)
	last := &t.held[len(t.held)-1]
	t.size += len(row.Rule.Key) + len(row.Rule.Value)
	for i := len(properties); i > t.needed; i-- {
		if properties[i-1].get(last) != "" || t.size > mostHeld {
			t.needed = i
		}
	}
}

// addRule adds the rows of a rule.
func (t *tableWriter) addRule(rule resolver.Rule) {
	if rule.Windows == "" { // without an allocation
		t.addRow(schedule.Always(rule))
	} else {
		for _, row := range rowsOf(rule) {
			t.addRow(row)
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

// rowsOf returns what the rows of a rule say: one, or one for each window.
func rowsOf(rule resolver.Rule) []schedule.Window {
	rows := schedule.Split(rule)
	for i := range rows {
		rows[i].Rule.Key = rule.Key
	}
	return rows
}

// checkEach returns the first error of what a rule leads to in each of its windows.
func checkEach(rule resolver.Rule, check func(resolver.Rule) error) error {
	for _, w := range rowsOf(rule) {
		if err := check(w.Rule); err != nil {
			return err
		}
	}
	return nil
}

// checkInCSV returns an error for a rule that no row can contain.
func checkInCSV(rule resolver.Rule) error {
	if rule.Windows != "" {
		return checkEach(rule, checkInCSV)
	}
	if err := cmp.Or(checkWritable(rule), checkKeyField(rule.Key)); err != nil {
		return err
	}
	if _, cut := cutSlash(rule.Key); cut {
		return errors.New("the key begins with \"/\", and would be read without it; remove it")
	}
	if strings.ContainsAny(rule.Key, "\r\n") || strings.ContainsAny(rule.Value, "\r\n") {
		return errors.New("a row cannot contain a line end; write it percent-encoded")
	}
	if strings.ContainsAny(rule.Note, "\r\n") {
		return errors.New("a row cannot contain a line end; write a space in the note")
	}
	return nil
}
