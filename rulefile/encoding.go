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

// withoutByteOrderMark skips the mark that some editors put in front of UTF-8, as RFC 8259 8.1
// allows. It also returns how many bytes it skipped.
func withoutByteOrderMark(r io.Reader) (text *bufio.Reader, dropped int) {
	const mark = "\uFEFF"
	b := bufio.NewReaderSize(r, roomFor(r, 16<<10))
	if start, _ := b.Peek(len(mark)); string(start) == mark {
		dropped, _ = b.Discard(len(mark)) // it was just peeked
	}
	return b, dropped
}

// CheckBeginning returns an error if a text with this beginning is in another format. instead says
// what to write for JSON; it is "" if JSON can be right.
func CheckBeginning(begin []byte, format Format, instead string) error {
	begins := func(with string) bool { return bytes.HasPrefix(begin, []byte(with)) }
	switch {
	case begins("\xff\xfe") || begins("\xfe\xff"):
		return errors.New("the text is UTF-16; save the file as UTF-8")
	case begins("PK\x03\x04") || begins("\xd0\xcf\x11\xe0"): // a zip file, or an old Excel file
		return errors.New("this is a spreadsheet, or another file that is not text; save it as CSV, in " +
			"UTF-8, with the columns key and destination")
	case instead == "" || format == JSON || !beginsJSON(begin):
		return nil
	}
	return fmt.Errorf("this is JSON, not %s; %s", format, instead)
}

// beginsJSON reports whether a text begins like an object, or a list of objects.
func beginsJSON(text []byte) bool {
	begin := strings.Join(strings.Fields(strings.TrimPrefix(string(text), "\uFEFF")), "")
	return slices.Contains([]string{"{", "[", "{}", "[]", "[{"}, begin) ||
		strings.HasPrefix(begin, `{"`) || strings.HasPrefix(begin, `[{"`)
}

// roomFor returns the buffer size for reading r, at most most. It is small for a text that is known
// to be short, because values are read by the million.
func roomFor(r io.Reader, most int) int {
	if short, ok := r.(interface{ Len() int }); ok {
		return min(short.Len()+bytes.MinRead, most)
	}
	return most
}

// textOf returns bytes as a string. A lent one is valid until the bytes change, so that scanning a
// large file leaves no garbage.
func textOf(b []byte, lent bool) string {
	if lent {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return string(b)
}

const notUnicode = "is not Unicode text: save the file as UTF-8"

// checkText returns an error for a text that is not UTF-8.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return errors.New("this " + notUnicode)
}
