package rulefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Files of rules are UTF-8.

// withoutByteOrderMark drops the mark that some editors put in front of UTF-8. RFC 8259 8.1 lets a
// reader ignore it. It returns how many bytes these were, too.
func withoutByteOrderMark(r io.Reader) (text *bufio.Reader, dropped int) {
	const mark = "\uFEFF"
	b := bufio.NewReaderSize(r, roomFor(r, 16<<10))
	if start, _ := b.Peek(len(mark)); string(start) == mark {
		dropped, _ = b.Discard(len(mark)) // it has just been seen
	}
	return b, dropped
}

// CheckBeginning says why a text that begins so is none of a format: it is a file of another kind,
// of which each line would be an error. instead is what to write for JSON, "" where that can be
// right.
func CheckBeginning(begin []byte, format Format, instead string) error {
	begins := func(with string) bool { return bytes.HasPrefix(begin, []byte(with)) }
	switch {
	case begins("\xff\xfe") || begins("\xfe\xff"):
		return errors.New("the text is UTF-16; save the file as UTF-8")
	case begins("PK\x03\x04") || begins("\xd0\xcf\x11\xe0"): // a zipped file, or an old one of Excel
		return errors.New("this is a spreadsheet, or another file that is no text; save it as CSV, in " +
			"UTF-8, with the columns key and destination")
	case instead == "" || !beginsJSON(begin):
		return nil
	}
	return fmt.Errorf("this is JSON, and not %s; %s", format, instead)
}

// beginsJSON reports whether a text begins as an object, or a list of objects.
func beginsJSON(text []byte) bool {
	begin := strings.Join(strings.Fields(strings.TrimPrefix(string(text), "\uFEFF")), "")
	return slices.Contains([]string{"{", "[", "{}", "[]", "[{"}, begin) ||
		strings.HasPrefix(begin, `{"`) || strings.HasPrefix(begin, `[{"`)
}

// roomFor returns how much room it takes to read r, at most most: a text that is known to be short
// takes little, as values that are read by the million do.
func roomFor(r io.Reader, most int) int {
	if short, ok := r.(interface{ Len() int }); ok {
		return min(short.Len()+bytes.MinRead, most)
	}
	return most
}

// textOf returns bytes as a string. One that is lent is good until the bytes change: a large file
// that is only looked through leaves nothing behind then.
func textOf(b []byte, lent bool) string {
	if lent {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return string(b)
}

const notUnicode = "is not Unicode text: save the file as UTF-8"

// checkText refuses a text that is no UTF-8.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return errors.New("this " + notUnicode)
}
