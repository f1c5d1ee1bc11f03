package rulefile

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// lineReader reads the lines of a text that say something. It passes over blank ones and comments,
// which begin with "#".
type lineReader struct {
	r      *bufio.Reader
	source string
	number int // of the line that was read last, from 1
	// The line that was read last, with its end, is the input from start to end.
	start, end int
	long       []byte // memory for a line that r has no room for
}

func newLineReader(r io.Reader, source string) *lineReader {
	text, mark := withoutByteOrderMark(r)
	return &lineReader{r: text, source: source, end: mark}
}

// position returns a column of the line that was read last.
func (l *lineReader) position(column int) resolver.Position {
	return resolver.Position{Source: l.source, Line: l.number, Column: column}
}

// next returns the next line, without the LF or CRLF at its end. It is valid until the next call.
// The error is io.EOF behind the last line, an [*Error] for a line that is too long or has another
// in it, or the reader's own.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		l.start, l.end = l.end, l.end+len(line)
		if len(line) == 0 && err != nil || err != nil && err != io.EOF {
			return nil, err
		}
		l.number++
		if len(line) > maxText {
			return nil, &Error{l.position(1), "the line is longer than a mebibyte, and holds no rule"}
		}
		if at := bytes.IndexByte(line, '\r'); at >= 0 && len(bytes.TrimSpace(line[at:])) > 0 {
			return nil, &Error{l.position(at + 1), LoneReturn}
		}
		if saysSomething(line) {
			return withoutLineEnd(line), nil
		}
	}
}

// LoneReturn is what is wrong with a line in which another one begins behind a carriage return.
const LoneReturn = "a line ends in a carriage return alone here, and what follows would belong " +
	"to it; save the file with the line ends of Unix or Windows"

// saysSomething reports whether a line is neither blank nor a comment.
func saysSomething(line []byte) bool {
	for _, c := range line {
		if strings.IndexByte(lineSpace+"\n", c) < 0 {
			return c != '#'
		}
	}
	return false
}

// lineSpace is what can stand between the words of a line.
const lineSpace = " \t\r\v\f"

// maxText is how long a line, or a string of JSON, is at most. Keys and destinations end long
// before.
const maxText = 1 << 20

// read reads a line, with its end, or as much of it as makes it too long. At the end of the input,
// the error is io.EOF also where there is a line.
func (l *lineReader) read() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	l.long = append(l.long[:0], line...)
	for err == bufio.ErrBufferFull {
		if len(l.long) > maxText {
			return l.long, nil
		}
		line, err = l.r.ReadSlice('\n')
		l.long = append(l.long, line...)
	}
	return l.long, err
}

func withoutLineEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
