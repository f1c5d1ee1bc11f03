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
	hasSlash  bool // in front of the key that is found, or of the last one
	lineSpot
}

// lineSpot is where in a file of lines an edit goes.
type lineSpot struct {
	found      bool
	start, end int // of the line with the key, if it is found
	last       int // where the last line ends
}

// planCSV reads the whole table.
func (p *Plan) planCSV(content io.Reader) (spot, error) {
	c := NewRows(content, p.source)
	c.lends = true
	table := new(csvTable)
	first, err := c.Next()
	_, err = p.edit.Reading.ReadRows(c, first, err, func(rule resolver.Rule) {
		is := p.take(rule)
		if table.found {
			return
		}
		table.hasSlash = c.hasSlash
		if is {
			table.found, table.start, table.end = true, c.lines.start, c.lines.end
		}
	})
	table.columns, table.hasHeader, table.last = c.columns, c.hasHeader, c.lines.end
	table.separator = cmp.Or(c.quoted.Comma, ',')
	return table, err
}

// splices returns what an edit changes in the table.
func (t *csvTable) splices(e *Edit, content io.ReadSeeker) ([]splice, error) {
	if e.Rule == nil {
		if !t.found {
			return nil, ErrNoRule
		}
		return []splice{{t.start, t.end, ""}}, nil
	}
	if err := checkInCSV(*e.Rule); err != nil {
		return nil, e.refuse(err)
	}
	row, err := t.row(*e.Rule)
	if err != nil {
		return nil, e.refuse(err)
	}
	return t.lineSplice(content, row)
}

// row returns the row of a rule without a line end, or says why there can be none.
func (t *csvTable) row(rule resolver.Rule) (string, error) {
	var fields []string
	for _, column := range t.columns {
		field := column.get(&rule)
		if column == keyProperty && t.hasSlash {
			field = "/" + field
		}
		fields = append(fields, field)
	}
	for _, column := range properties {
		if column.get(&rule) != "" && !slices.Contains(t.columns, column) {
			return "", errors.New("the table has no column " + column.name + t.addTo())
		}
	}
	for !t.hasHeader && len(fields) > 2 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return rowText(fields, t.separator), nil
}

// addTo says how a column is added to the table.
func (t *csvTable) addTo() string {
	if t.hasHeader {
		return "; add it to the header"
	}
	return "; write a header in front of its first row, such as " + namesOf(properties)
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

// lineSplice puts a line in the place of the one that was found, or at the end.
func (s *lineSpot) lineSplice(content io.ReadSeeker, line string) ([]splice, error) {
	if !s.found {
		s.start, s.end = s.last, s.last
	}
	end, isEnded, err := lastLineEnd(content, s.last)
	if err != nil {
		return nil, err
	}
	old, err := textBetween(content, s.start, s.end)
	if err != nil {
		return nil, err
	}
	if s.found {
		return []splice{{s.start, s.end, line + old[len(withoutLineEnd([]byte(old))):]}}, nil
	}
	if s.last > 0 && !isEnded {
		line = end + line
	}
	return []splice{{s.last, s.last, line + end}}, nil
}

// lastLineEnd returns the last line end in front of a byte, and whether it is right there. The
// default is "\n".
func lastLineEnd(content io.ReadSeeker, at int) (end string, isEnded bool, err error) {
	text, err := textBetween(content, max(0, at-maxText-2), at)
	i := strings.LastIndexByte(text, '\n')
	if i > 0 && text[i-1] == '\r' {
		return "\r\n", i == len(text)-1, err
	}
	return "\n", i >= 0 && i == len(text)-1, err
}
