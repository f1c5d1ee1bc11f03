package coverage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// longestLine is the largest length of a line.
	longestLine = 1 << 20
	// headSize is how many bytes are read to find the kind of a file.
	headSize = 64 << 10
	// stepEvery is how many lines are read between two calls of Options.Step.
	stepEvery = 1024
	// largestWindow is how much memory a zstd frame may need: as much as with zstd --long.
	largestWindow = 128 << 20
)

var errLongLine = fmt.Errorf("a line of more than %d bytes", longestLine)

// Read counts the requests of a file, compressed or not. The name is for messages. The error is
// that of r, or says why nothing in the file can be read. Single lines that cannot be read are
// counted.
func (c *Counts) Read(name string, r io.Reader) error {
	raw := &remembering{r: r}
	plain, err := unpack(bufio.NewReaderSize(raw, headSize))
	if raw.err != nil {
		return raw.err
	}
	if err != nil {
		return fmt.Errorf("%s: it cannot be unpacked: %w", name, err)
	}
	f := file{counts: c, name: name, in: bufio.NewReaderSize(plain, longestLine)}
	undated := c.LeftOut.Undated
	c.limits.hasDate = false
	err = f.read()
	if raw.err != nil {
		return raw.err
	}
	if err == nil && c.LeftOut.Undated > undated && !c.limits.hasDate {
		err = errUndated
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.end()
}

// end adds a note if the file breaks off. It returns an error if nothing in the file could be read.
func (f *file) end() error {
	switch {
	case f.cutShort != nil && f.hasRead:
		f.counts.Notes = append(f.counts.Notes, fmt.Sprintf("%s: its compressed content breaks off "+
			"in line %d (%s); the lines before it count", f.name, f.line+1, f.cutShort))
	case f.cutShort != nil:
		return fmt.Errorf("%s: nothing could be read, because its compressed content is damaged "+
			"or cut off at the beginning: %w", f.name, f.cutShort)
	case f.wrong != nil && !f.hasRead:
		return fmt.Errorf("%w; nothing in the file could be read", f.wrong)
	}
	return nil
}

// remembering remembers the error of a reader, to distinguish it from errors of unpacking.
type remembering struct {
	r   io.Reader
	err error // never io.EOF
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// unpack returns the plain content of a file.
func unpack(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(6)
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case begins("\x1f\x8b"):
		return gzip.NewReader(r)
	case begins("\x28\xb5\x2f\xfd"):
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(largestWindow))
	case begins("PK\x03\x04"):
		return nil, errors.New("zip archives are not supported; unpack it and give its files, of " +
			"Search Console's the one with pages")
	case begins("BZh"), begins("\xfd7zXZ\x00"):
		return nil, errors.New("only gzip and zstd are supported; unpack it, and write - to read " +
			"it from standard input")
	case begins("\xff\xfe"), begins("\xfe\xff"):
		return nil, errors.New("UTF-16 is not supported; save it as UTF-8")
	}
	return r, nil
}

// file is a file that is being read.
type file struct {
	counts   *Counts
	name     string
	in       *bufio.Reader
	line     int   // the number of the last line
	hasRead  bool  // at least one line could be read
	wrong    error // of the first line that could not be read
	cutShort error // why unpacking ended too early
}

// note records whether a line could be read.
func (f *file) note(line int, err error) {
	if err == nil {
		f.hasRead = true
		return
	}
	if f.wrong == nil {
		f.wrong = fmt.Errorf("%s:%d: %w", f.name, line, err)
	}
	f.counts.Unread.add(f.name, line, err)
}

// read reads a file of any kind.
func (f *file) read() error {
	head, err := f.in.Peek(headSize)
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, _ = f.in.Discard(3) // they have been peeked
		head = head[3:]
	}
	is, columns, wrong := kindOf(head, err != nil)
	if wrong != nil && err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		f.cutShort = err // the beginning is too short to tell the kind
		return nil
	}
	if wrong != nil {
		return wrong
	}
	switch is {
	case sitemapFile:
		return f.readSitemap()
	case tableFile:
		f.readTable(columns)
	case jsonFile:
		f.readLines(f.counts.readJSON)
	case commonFile:
		f.readLines((&commonLog{counts: f.counts}).read)
	default:
		f.readLines(f.readListed)
	}
	return nil
}

// readLines passes each line to read, whose error says what is wrong with the line.
func (f *file) readLines(read func([]byte) error) {
	for line := range f.eachLine {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		f.note(f.line, read(line))
	}
}

// eachLine yields the lines of the file. It counts a line that is too long as unread.
func (f *file) eachLine(yield func([]byte) bool) {
	for {
		line, err := f.in.ReadSlice('\n')
		if len(line) > 0 {
			f.countLine()
		}
		if err == bufio.ErrBufferFull {
			f.note(f.line, errLongLine)
			if err = f.skipLine(); err == nil {
				continue
			}
			line = nil
		}
		if err != nil && err != io.EOF {
			f.cutShort = err // the line is incomplete
			return
		}
		if len(line) > 0 && !yield(line) || err != nil {
			return
		}
	}
}

// countLine counts a line.
func (f *file) countLine() {
	f.line++
	c := f.counts
	c.lineCount++
	if c.Step != nil && c.lineCount%stepEvery == 0 {
		c.Step(c.lineCount)
	}
}

// skipLine reads to the end of a line.
func (f *file) skipLine() error {
	for {
		if _, err := f.in.ReadSlice('\n'); err != bufio.ErrBufferFull {
			return err
		}
		if c := f.counts; c.Step != nil {
			c.Step(c.lineCount)
		}
	}
}

// readListed counts a line of a list.
func (f *file) readListed(line []byte) error {
	if line[0] == '#' {
		return nil
	}
	return f.counts.countURL(request{target: line, n: 1})
}
