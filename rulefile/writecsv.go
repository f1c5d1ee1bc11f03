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
// modes, notes and windows are written up to the last one that a rule needs. It goes through the
// rules twice.
func writeCSV(w io.Writer, rules iter.Seq[resolver.Rule]) error {
	var errs Errors
	var rows []schedule.Window // of a rule
	columns := properties[:fewColumns]
	for rule := range rules {
		rows = schedule.AppendSplit(rows[:0], rule)
		if err := checkInCSV(rule, rows); err != nil {
			errs.leaveOut(rule, err)
			continue
		}
		for n := len(columns); n < len(properties); n++ {
			if properties[n].isSaid(rows) {
				columns = properties[:n+1]
			}
		}
	}
	table, fields := csv.NewWriter(w), make([]string, len(columns))
	for i, column := range columns {
		fields[i] = column.name
	}
	table.Write(fields) //nolint:errcheck // Error returns it, as below
	for rule := range rules {
		rows = schedule.AppendSplit(rows[:0], rule)
		if checkInCSV(rule, rows) != nil {
			continue
		}
		for r := range rows {
			for i, column := range columns {
				fields[i] = column.get(&rows[r])
			}
			table.Write(fields) //nolint:errcheck
		}
	}
	table.Flush()
	return cmp.Or(table.Error(), errs.orNil()) // the first error of all writes
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
