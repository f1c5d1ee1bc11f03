package rulefile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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

const notUnicode = "is no Unicode text: save the file as UTF-8"

// checkText refuses a text that is no UTF-8.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return errors.New("this " + notUnicode)
}
