package migrate

import (
	"bufio"
	"errors"
	"io"
	"strings"

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
