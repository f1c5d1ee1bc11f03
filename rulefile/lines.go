package rulefile

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// LineReader reads the lines of a text, without its byte order mark.
type LineReader struct {
	lines  *bufio.Scanner
	source string
	number int // of the last line, from 1
	// KeepsAll says to read blank lines and comments, too. Comments begin with "#".
	KeepsAll bool
	// The last line, with its line end, is the input from start to end.
	start, end int
}

// NewLineReader returns a reader of the lines of a text, which positions call source.
func NewLineReader(r io.Reader, source string) *LineReader {
	text, mark := withoutByteOrderMark(r)
	l := &LineReader{lines: bufio.NewScanner(text), source: source, end: mark}
	l.lines.Buffer(make([]byte, 0, text.Size()), maxText+1)
	l.lines.Split(splitLines)
	return l
}

// splitLines is [bufio.ScanLines] that keeps the ends of lines.
func splitLines(text []byte, isAll bool) (n int, line []byte, err error) {
	n = bytes.IndexByte(text, '\n') + 1
	if n == 0 && isAll {
		n = len(text)
	}
	if n == 0 {
		return 0, nil, nil
	}
	return n, text[:n], nil
}

// At returns a column of the last line.
func (l *LineReader) At(column int) resolver.Position {
	return resolver.Position{Source: l.source, Line: l.number, Column: column}
}

// Next returns the next line, without the LF or CRLF at its end. It is valid until the next call.
// The error is io.EOF after the last line, an [*Error] for a line that is too long or contains a
// line end, or the reader's own.
func (l *LineReader) Next() ([]byte, error) {
	for l.lines.Scan() {
		line := l.lines.Bytes()
		l.start, l.end = l.end, l.end+len(line)
		l.number++
		line, behind, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(bytes.TrimSpace(behind)) > 0 {
			return nil, &Error{l.At(len(line) + 1), "this line ends with only a carriage return, so the " +
				"next line would belong to it; save the file with the line ends of Unix or Windows"}
		}
		if l.KeepsAll || saysSomething(line) {
			return line, nil
		}
	}
	err := cmp.Or(l.lines.Err(), io.EOF)
	if err == bufio.ErrTooLong {
		l.number++
		return nil, &Error{l.At(1), "the line is longer than a mebibyte, too long for a rule"}
	}
	return nil, err
}

// saysSomething reports whether a line is neither blank nor a comment.
func saysSomething(line []byte) bool {
	for _, c := range line {
		if strings.IndexByte(lineSpace+"\n", c) < 0 {
			return c != '#'
		}
	}
	return false
}

// lineSpace is the characters between the words of a line.
const lineSpace = " \t\r\v\f"

// maxText limits lines and strings of JSON; keys and destinations are much shorter.
const maxText = 1 << 20
