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
	t := tableWriter{w: w, isHeld: true, needed: fewColumns}
	t.rows = csv.NewWriter(&t.held)
	for rule := range rules {
		if err := checkInCSV(rule); err != nil {
			errs.leaveOut(rule, err)
		} else if err := t.write(rule); err != nil {
			return err
		}
	}
	if err := t.end(); err != nil {
		return err
	}
	return errs.orNil()
}

// mostHeld is how many bytes of rows are held until the columns are known.
const mostHeld = 16 << 20

// tableWriter writes rows. It holds them, with all columns, until it is known which are needed.
type tableWriter struct {
	w      io.Writer
	rows   *csv.Writer
	isHeld bool
	held   bytes.Buffer
	needed int      // how many of the columns are
	fields []string // here, so that a row allocates nothing
}

// write writes the row of a rule.
func (t *tableWriter) write(rule resolver.Rule) error {
	switch {
	case !t.isHeld:
	case rule.Note != "" || t.held.Len() > mostHeld:
		t.needed = len(properties)
		if err := t.release(); err != nil {
			return err
		}
	case rule.Query != resolver.QueryDefault:
		t.needed = len(properties) - 1
	}
	t.fields = t.fields[:0]
	for _, column := range properties {
		t.fields = append(t.fields, column.get(rule))
	}
	t.rows.Write(t.fields) //nolint:errcheck // Error gives the first error of all that is written
	return nil
}

// release writes the header and the rows that are held, with the columns that are needed.
func (t *tableWriter) release() error {
	t.rows.Flush()
	header := strings.ReplaceAll(namesOf(properties[:t.needed]), " ", "") + "\n"
	if _, err := io.WriteString(t.w, header); err != nil {
		return err
	}
	// no field has a line end, and those that are not needed are empty
	spare := strings.Repeat(",", len(properties)-t.needed) + "\n"
	held := bytes.ReplaceAll(t.held.Bytes(), []byte(spare), []byte("\n"))
	t.rows, t.isHeld, t.held = csv.NewWriter(t.w), false, bytes.Buffer{}
	_, err := t.w.Write(held)
	return err
}

// end writes all that has not been written yet.
func (t *tableWriter) end() error {
	if t.isHeld {
		if err := t.release(); err != nil {
			return err
		}
	}
	t.rows.Flush()
	return t.rows.Error()
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
