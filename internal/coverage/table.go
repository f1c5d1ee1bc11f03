package coverage

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table is CSV or TSV with a column of URLs, such as the exports of Search Console and Google
// Analytics.
type table struct {
	separator  byte
	url, count int  // columns; noCount for none
	hasHeader  bool // if not, the first row counts
	quoted     *csv.Reader
	line       bytes.Reader
	fields     [][]byte
}

const noCount = -1

// The names of columns that count, the best first.
var (
	urlColumns = [...]string{"url", "urls", "uri", "page", "path", "top pages", "page path",
		"landing page", "page location", "address", "location", "loc", "link", "pathname", "request"}
	countColumns = [...]string{"requests", "count", "hits", "clicks", "views", "pageviews", "visits",
		"sessions"}
)

// newTable finds the columns of a table by its first lines.
func newTable(lines [][]byte) (*table, bool) {
	t := &table{separator: separatorOf(lines[0]), count: noCount}
	t.quoted = csv.NewReader(&t.line)
	t.quoted.Comma, t.quoted.FieldsPerRecord, t.quoted.ReuseRecord = rune(t.separator), -1, true
	header, ok := t.split(lines[0])
	if !ok {
		return nil, false
	}
	header = slices.Clone(header)
	if slices.ContainsFunc(header, isURL) {
		return t, t.isWithoutHeader(header, lines)
	}
	t.hasHeader = true
	if t.url = named(header, urlColumns[:]); t.url >= 0 {
		t.count = named(header, countColumns[:])
		return t, true
	}
	return t, len(lines) > 1 && t.isBelow(header, lines[1])
}

// isWithoutHeader reports whether lines without a header are a table. They are if tabs separate
// columns, or if each has a URL and a count. With commas the URL must be in quotation marks,
// because a path may have commas, such as /map/52,13.
func (t *table) isWithoutHeader(first [][]byte, lines [][]byte) bool {
	t.findColumns(first)
	if t.separator == '\t' {
		return len(first) > 1
	}
	return t.count == 1 && !slices.ContainsFunc(lines, func(line []byte) bool {
		if t.separator == ',' && line[0] != '"' {
			return true
		}
		row, ok := t.split(line)
		if !ok || len(row) != 2 || !isURL(row[0]) {
			return true
		}
		_, isCount := parseCount(row[1])
		return !isCount
	})
}

// isBelow reports whether the row below a header in an unknown language has a URL.
func (t *table) isBelow(header [][]byte, line []byte) bool {
	columns := len(header)
	row, ok := t.split(line)
	return ok && columns > 1 && len(row) == columns && t.findColumns(row)
}

// findColumns finds the first URL of a row, and the count after it, if there is one.
func (t *table) findColumns(row [][]byte) (ok bool) {
	if t.url = slices.IndexFunc(row, isURL); t.url < 0 {
		return false
	}
	if t.url+1 < len(row) {
		if _, isCount := parseCount(row[t.url+1]); isCount {
			t.count = t.url + 1
		}
	}
	return true
}

// named returns the column with the first of the names, or a prefix of its name, or -1.
func named(header [][]byte, names []string) int {
	for _, name := range names {
		for i, field := range header {
			field := strings.ToLower(strings.TrimSpace(string(field)))
			if field == name || strings.Contains(name, " ") && strings.HasPrefix(field, name) {
				return i
			}
		}
	}
	return -1
}

// separatorOf returns the separator of the columns of a header.
func separatorOf(line []byte) byte {
	best, most := byte(','), 0
	for _, separator := range []byte{'\t', ',', ';'} {
		if n := bytes.Count(line, []byte{separator}); n > most {
			best, most = separator, n
		}
	}
	return best
}

// readTable reads the rows of a table.
func (f *file) readTable(t *table) {
	isHeader := t.hasHeader
	for line := range f.eachLine {
		line = bytes.TrimRight(line, "\r\n")
		if !isText(line) {
			continue
		}
		if isHeader {
			isHeader = false
			continue
		}
		f.note(f.line, f.readRow(t, line))
	}
}

// readRow counts a row.
func (f *file) readRow(t *table, line []byte) error {
	row, ok := t.split(line)
	if !ok {
		return errors.New("not a table row: " + excerpt(line))
	}
	if t.url >= len(row) {
		return fmt.Errorf("the row has no column %d, where its URL should be", t.url+1)
	}
	r := request{target: bytes.TrimSpace(row[t.url]), n: 1}
	if len(r.target) == 0 { // a total
		return nil
	}
	if t.count != noCount && t.count < len(row) {
		if r.n, ok = parseCount(row[t.count]); !ok {
			return errors.New("the count is not a number: " + excerpt(row[t.count]))
		}
	}
	return f.counts.countURL(r)
}

// split splits a line into fields, which are valid until the next call. encoding/csv reads only
// lines with quotation marks, one at a time, so that an unclosed one affects no other line.
func (t *table) split(line []byte) (fields [][]byte, ok bool) {
	t.fields = t.fields[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for more := true; more; {
			var field []byte
			field, line, more = bytes.Cut(line, []byte{t.separator})
			t.fields = append(t.fields, field)
		}
		return t.fields, true
	}
	t.line.Reset(line)
	row, err := t.quoted.Read()
	for _, field := range row {
		t.fields = append(t.fields, []byte(field))
	}
	return t.fields, err == nil
}

// parseCount reads a count, perhaps with separators between groups of digits.
func parseCount(field []byte) (n uint64, ok bool) {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(",' \u00a0\u202f", r) {
			return -1
		}
		return r
	}, string(field))
	n, err := strconv.ParseUint(text, 10, 32)
	return n, err == nil
}
