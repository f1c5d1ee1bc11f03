package migrate

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// LineReader reads a file line by line, without the mark in front of UTF-8.
type LineReader struct {
	table   *Table
	scanner *bufio.Scanner
	number  int // of the line that was read last, from 1
}

// longestLine is how many bytes a line has at most. Keys and destinations end long before.
const longestLine = 1 << 20

// NewLineReader returns a reader of the lines of a file.
func (t *Table) NewLineReader(r io.Reader) *LineReader {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longestLine+1)
	return &LineReader{table: t, scanner: scanner}
}

// At returns a column of the line that was read last.
func (l *LineReader) At(column int) resolver.Position { return l.table.Position(l.number, column) }

// Next returns the next line, without its end. The error is io.EOF behind the last one, an
// [*rulefile.Error] for a line that is too long, or the reader's own.
func (l *LineReader) Next() (string, error) {
	isRead := l.scanner.Scan()
	switch err := l.scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		l.number++
		return "", ErrorAt(l.At(1), "the line is longer than a mebibyte, and holds no rule")
	case err != nil:
		return "", err
	case !isRead:
		return "", io.EOF
	}
	l.number++
	line := l.scanner.Text()
	if l.number == 1 {
		line = strings.TrimPrefix(line, "\uFEFF")
	}
	if at := strings.IndexByte(line, '\r'); at >= 0 && strings.Trim(line[at:], Space) != "" {
		return "", ErrorAt(l.At(at+1), rulefile.LoneReturn)
	}
	return line, nil
}

// ErrorAt returns the error of a file that cannot be read on.
func ErrorAt(at resolver.Position, message string) error {
	return &rulefile.Error{Position: at, Message: message}
}

// NextEntry is Next for lines that are neither blank nor a comment, which begins with "#".
func (l *LineReader) NextEntry() (line string, err error) {
	for {
		line, err = l.Next()
		text := strings.TrimLeft(line, Space)
		if err != nil || text != "" && text[0] != '#' {
			return line, err
		}
	}
}

// longestText is how many bytes a file has at most that is decoded as a whole.
const longestText = 64 << 20

// ReadText reads a file that is decoded as a whole, without the mark in front of UTF-8.
func (t *Table) ReadText(r io.Reader) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, longestText+1))
	switch {
	case err != nil:
		return "", err
	case n > longestText:
		return "", ErrorAt(t.Position(1, 1),
			"the file has more than 64 MiB; write it as several, and convert each")
	}
	return strings.TrimPrefix(text.String(), "\uFEFF"), nil
}

// notUnicode is what a text is that is no UTF-8.
const notUnicode = "is not Unicode text: save the file as UTF-8"

// CheckText refuses a text that no path and no URL holds. Messages call it what.
func CheckText(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return errors.New(what + " " + notUnicode)
	case strings.ContainsAny(text, "\x00\x01\x02"):
		return errors.New(what + " holds control characters; remove them")
	}
	return nil
}

// mostNames is how many names a person reads.
const mostNames = 20

// QuoteAll lists texts, as many as a person reads.
func QuoteAll(texts []string) string {
	var quoted []string
	for _, text := range texts[:min(len(texts), mostNames)] {
		quoted = append(quoted, printable.Quote(text))
	}
	if len(texts) > mostNames {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

// Names are those of what a reader passes over, such as members that say nothing here.
type Names []string

// Add adds a name, unless it is there in either case, or there are more than a person reads.
func (n *Names) Add(name string) {
	isSame := func(other string) bool { return strings.EqualFold(other, name) }
	if len(*n) <= mostNames && !slices.ContainsFunc(*n, isSame) {
		*n = append(*n, strings.Clone(name))
	}
}

// RemarkPassed says of the file that what is passed over, if there is such.
func (t *Table) RemarkPassed(what string, names Names) {
	if len(names) > 0 {
		t.Remark("%s passed over: %s", what, QuoteAll(names))
	}
}
