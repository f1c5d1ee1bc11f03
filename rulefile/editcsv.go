package rulefile

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// csvTable is what an edit has to know of a table.
type csvTable struct {
	columns   []*property
	separator rune
	hasHeader bool
	hasSlash  bool     // in front of the key that is found, or of the last one
	old       []splice // takes out the row with the key, if there is one
	last      int      // where the last line ends
}

// planCSV reads the whole table.
func (p *Plan) planCSV(content io.Reader) (spot, error) {
	c := NewRows(content, p.source)
	c.lends = true
	table := new(csvTable)
	first, err := c.Next()
	_, err = p.edit.Reading.ReadRows(c, first, err, func(rule resolver.Rule) {
		is := p.take(rule)
		if table.old != nil {
			return
		}
		table.hasSlash = c.hasSlash
		if is {
			table.old = []splice{{from: c.lines.start, to: c.lines.end}}
		}
	})
	table.columns, table.hasHeader, table.last = c.columns, c.hasHeader, c.lines.end
	table.separator = cmp.Or(c.quoted.Comma, ',')
	return table, err
}

func (t *csvTable) check(rule resolver.Rule) error {
	if err := checkInCSV(rule); err != nil {
		return err
	}
	for _, column := range properties {
		if column.get(&rule) == "" || slices.Contains(t.columns, column) {
			continue
		}
		instead := "write a header in front of its first row, such as " + namesOf(properties)
		if t.hasHeader {
			instead = "add it to the header"
		}
		return errors.New("the table has no column " + column.name + "; " + instead)
	}
	return nil
}

func (t *csvTable) splices(e *Edit, content io.ReadSeeker) ([]splice, error) {
	if e.Rule == nil {
		return t.old, nil
	}
	at := t.last
	if t.old != nil {
		at = t.old[0].from
	}
	return spliceLines(content, t.last, at, t.row(*e.Rule)+"\n", t.old...)
}

// row returns the row of a rule without a line end.
func (t *csvTable) row(rule resolver.Rule) string {
	var fields []string
	for _, column := range t.columns {
		field := column.get(&rule)
		if column == keyProperty && t.hasSlash {
			field = "/" + field
		}
		fields = append(fields, field)
	}
	for !t.hasHeader && len(fields) > 2 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return rowText(fields, t.separator)
}

// rowText returns the line of a row. A field is in quotation marks if it needs them under any
// separator, as readers find out from the first row which one it is.
func rowText(row []string, separator rune) string {
	fields := slices.Clone(row)
	for i, field := range row {
		if field != strings.TrimSpace(field) || strings.ContainsAny(field, ",;\t\"") {
			fields[i] = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
	}
	return strings.Join(fields, string(separator))
}

// spliceLines returns splices that put lines to a byte of a content whose last line ends at last,
// in the place of old ones, which they take out.
func spliceLines(
	content io.ReadSeeker, last, at int, lines string, old ...splice,
) ([]splice, error) {
	before, err := textBetween(content, max(0, last-maxText-2), last)
	lineEnd := "\n" // unless there is another one
	if i := strings.LastIndexByte(before, '\n'); i > 0 && before[i-1] == '\r' {
		lineEnd = "\r\n"
	}
	isOldLast := slices.ContainsFunc(old, func(s splice) bool { return s.from == at && s.to == last })
	switch hasEnd := strings.HasSuffix(before, "\n"); {
	case !hasEnd && isOldLast:
		lines = strings.TrimSuffix(lines, "\n")
	case !hasEnd && at == last && last > 0:
		lines = "\n" + lines
	}
	splices := append(old, splice{at, at, strings.ReplaceAll(lines, "\n", lineEnd)})
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return splices, err
}
