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

// LineReader reads a file line by line, without its byte order mark.
type LineReader struct {
	table   *Table
	scanner *bufio.Scanner
	number  int // of the last line read, from 1
}

// longestLine is the maximum length of a line in bytes. Keys and destinations are far shorter.
const longestLine = 1 << 20

// NewLineReader returns a reader of the lines of a file.
func (t *Table) NewLineReader(r io.Reader) *LineReader {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, longestLine+1)
	return &LineReader{table: t, scanner: scanner}
}

// At returns the position of a column in the last line read.
func (l *LineReader) At(column int) resolver.Position { return l.table.Position(l.number, column) }

// Next returns the next line, without its line end. The error is io.EOF after the last line, or an
// [*rulefile.Error] for a line that is too long. Any other error is the reader's.
func (l *LineReader) Next() (string, error) {
	isRead := l.scanner.Scan()
	switch err := l.scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		l.number++
		return "", ErrorAt(l.At(1), "the line is longer than 1 MiB, and no rule is so long; remove it")
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

// ErrorAt returns an error that ends the reading of a file.
func ErrorAt(at resolver.Position, message string) error {
	return &rulefile.Error{Position: at, Message: message}
}

// NextEntry is Next, but skips blank lines and comments. A comment begins with "#".
func (l *LineReader) NextEntry() (line string, err error) {
	for {
		line, err = l.Next()
		text := strings.TrimLeft(line, Space)
		if err != nil || text != "" && text[0] != '#' {
			return line, err
		}
	}
}

// longestText is the maximum length in bytes of a file that is decoded as a whole.
const longestText = 64 << 20

// ReadText reads a file that is decoded as a whole, without its byte order mark.
func (t *Table) ReadText(r io.Reader) (string, error) {
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, longestText+1))
	switch {
	case err != nil:
		return "", err
	case n > longestText:
		return "", ErrorAt(t.Position(1, 1),
			"the file is larger than 64 MiB; split it, and convert each part")
	}
	return strings.TrimPrefix(text.String(), "\uFEFF"), nil
}

// CheckText refuses a text that neither a path nor a URL can hold. Messages call the text what.
// Libraries decode what is not Unicode as U+FFFD.
func CheckText(what, text string) error {
	switch {
	case !utf8.ValidString(text) || strings.Contains(text, "\uFFFD"):
		return errors.New(what + " is not Unicode text: save the file as UTF-8")
	case strings.ContainsAny(text, "\x00\x01\x02"):
		return errors.New(what + " holds control characters; remove them")
	}
	return nil
}

// mostNames is the maximum number of names in a message.
const mostNames = 20

// QuoteAll quotes and lists at most mostNames texts.
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

// Names are the names of skipped things, such as members without a meaning here.
type Names []string

// Add adds a name, unless it is known in either letter case, or the list is full.
func (n *Names) Add(name string) {
	isSame := func(other string) bool { return strings.EqualFold(other, name) }
	if len(*n) <= mostNames && !slices.ContainsFunc(*n, isSame) {
		*n = append(*n, strings.Clone(name))
	}
}

// RemarkSkipped adds a remark on the skipped names, if there are any.
func (t *Table) RemarkSkipped(what string, names Names) {
	if len(names) > 0 {
		t.Remark("%s ignored: %s", what, QuoteAll(names))
	}
}
