package rulefile

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// csvTable is a table that has been read, and the changes of its rows.
type csvTable struct {
	*Rows
	changed []splice
}

// planCSV reads the whole table.
func (p *Plan) planCSV(content io.Reader) (spot, error) {
	t := &csvTable{Rows: NewRows(content, p.source)}
	t.lends = true
	t.seen = func() {
		change, text := p.byKey[t.rule.Rule.Key], ""
		if change == nil {
			return
		}
		if !change.isFound { // the first row of the key, of several where it has windows
			text = t.text(change.Rule)
		}
		change.isFound = true
		t.changed = append(t.changed, splice{t.lines.start, t.lines.end, text})
	}
	first, err := t.Next()
	_, err = p.edit.Reading.ReadRows(t.Rows, first, err, func(rule resolver.Rule) { p.take(rule) })
	return t, err
}

func (t *csvTable) check(rule resolver.Rule) error {
	rows := schedule.Split(rule)
	if err := checkInCSV(rule, rows); err != nil {
		return err
	}
	for _, column := range properties {
		if column.isSaid(rows) && !slices.Contains(t.columns, column) {
			return errors.New("the table has no column " + column.name + "; add it to the header, or " +
				"write one in front of the first row, such as " + namesOf(properties))
		}
	}
	return nil
}

func (t *csvTable) splices(changes []plannedChange, content io.ReaderAt) ([]splice, error) {
	splices, end := t.changed, t.lines.end
	for _, change := range changes {
		if !change.isFound {
			splices = append(splices, splice{end, end, t.text(change.Rule)})
		}
	}
	return spliceLines(content, end, splices)
}

// text returns the lines of a rule, empty for none.
func (t *csvTable) text(rule *resolver.Rule) (text string) {
	if rule == nil {
		return ""
	}
	for _, row := range schedule.Split(*rule) {
		text += t.line(&row)
	}
	return text
}

// line returns the line of a row. Its key begins with a slash if that of the last row does.
func (t *csvTable) line(row *schedule.Window) string {
	var fields []string
	for _, column := range t.columns {
		field := column.get(row)
		if column == keyProperty && t.hasSlash {
			field = "/" + field
		}
		fields = append(fields, field)
	}
	for !t.hasHeader && len(fields) > 2 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return rowText(fields, cmp.Or(t.quoted.Comma, ',')) + "\n"
}

// rowText returns the line of a row. A field is in quotation marks if any separator requires them,
// because readers guess the separator from the first row.
func rowText(row []string, separator rune) string {
	fields := slices.Clone(row)
	for i, field := range row {
		if field != strings.TrimSpace(field) || strings.ContainsAny(field, ",;\t\"") {
			fields[i] = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
	}
	return strings.Join(fields, string(separator))
}

// spliceLines gives inserted lines the line ending of the file. A replaced last line stays
// unterminated. The splices are in order, and the last line of content ends at last.
func spliceLines(content io.ReaderAt, last int, splices []splice) ([]splice, error) {
	before, err := textBetween(content, max(0, last-maxText-2), last)
	atEnd := slices.IndexFunc(splices, func(s splice) bool { return s.to == last })
	switch n := len(splices) - 1; {
	case strings.HasSuffix(before, "\n") || before == "" || atEnd < 0:
	case splices[atEnd].from < last: // what takes the last line's place
		splices[n].text = strings.TrimSuffix(splices[n].text, "\n")
	default:
		splices[atEnd].text = "\n" + splices[atEnd].text
	}
	if i := strings.LastIndexByte(before, '\n'); i > 0 && before[i-1] == '\r' {
		for n := range splices {
			splices[n].text = strings.ReplaceAll(splices[n].text, "\n", "\r\n")
		}
	}
	return splices, err
}
