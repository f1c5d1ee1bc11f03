// Package vectors reads and writes tables made from public test suites, or from answers of
// programs: inputs and expected results, a row for each case. The tests of the other packages read
// them from testdata folders; the command in bench/generate makes those of suites.
//
// It imports nothing of the module. Tests import it, and the command does.
package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Table is the cases of a suite.
type Table struct {
	// Suite names the suite and the files of the table.
	Suite string `json:"suite"`
	// Revision is that of the suite, or the day on which it was read.
	Revision string `json:"revision"`
	// Licence is the suite's.
	Licence string `json:"licence"`
	// Columns name the cells of a row; the last cells can be missing.
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a case.
type Row []json.RawMessage

// Read returns the rows of a file.
func Read(file string) ([]Row, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var t Table
	if err := json.Unmarshal(content, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, about := range []string{t.Suite, t.Revision, t.Licence} {
		if about == "" {
			return nil, fmt.Errorf("%s: it does not say of which suite it is", file)
		}
	}
	for i, row := range t.Rows {
		if len(row) == 0 || len(row) > len(t.Columns) {
			return nil, fmt.Errorf("%s: row %d has %d cells", file, i+1, len(row))
		}
	}
	return t.Rows, nil
}

// Scan decodes the cells into the targets. A missing cell leaves its target as it is.
func (r Row) Scan(targets ...any) error {
	for i, cell := range r {
		if i >= len(targets) {
			return fmt.Errorf("%d cells, for %d targets", len(r), len(targets))
		}
		if err := json.Unmarshal(cell, targets[i]); err != nil {
			return fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	return nil
}

// Add adds a row.
func (t *Table) Add(cells ...any) {
	row := make(Row, len(cells))
	for i, cell := range cells {
		row[i] = encode(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Write writes the table, each row on a line.
func (t *Table) Write(file string) error {
	var b strings.Builder
	b.WriteString("{\n")
	fmt.Fprintf(&b, "\t\"suite\": %s,\n", encode(t.Suite))
	fmt.Fprintf(&b, "\t\"revision\": %s,\n", encode(t.Revision))
	fmt.Fprintf(&b, "\t\"licence\": %s,\n", encode(t.Licence))
	fmt.Fprintf(&b, "\t\"columns\": %s,\n", encode(t.Columns))
	b.WriteString("\t\"rows\": [\n")
	for i, row := range t.Rows {
		end := ","
		if i == len(t.Rows)-1 {
			end = ""
		}
		b.Write(encode(row))
		b.WriteString(end + "\n")
	}
	b.WriteString("\t]\n}\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// encode returns a value as JSON in which invisible characters are escaped.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // it was just decoded
	}
	var visible []byte
	for _, r := range strings.TrimSpace(b.String()) {
		switch {
		case r < utf8.RuneSelf || unicode.IsPrint(r) && !unicode.Is(unicode.M, r):
			visible = utf8.AppendRune(visible, r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			visible = fmt.Appendf(visible, `\u%04x\u%04x`, high, low)
		default:
			visible = fmt.Appendf(visible, `\u%04x`, r)
		}
	}
	return visible
}
