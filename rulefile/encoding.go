package rulefile

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf8"
)

// Files of rules are UTF-8.

// withoutByteOrderMark drops the mark that some editors put in front of UTF-8. RFC 8259 8.1 lets a
// reader ignore it. It returns how many bytes these were, too.
func withoutByteOrderMark(r io.Reader) (text *bufio.Reader, dropped int) {
	const mark = "\uFEFF"
	b := bufio.NewReaderSize(r, 16<<10)
	if start, _ := b.Peek(len(mark)); string(start) == mark {
		dropped, _ = b.Discard(len(mark)) // it has just been seen
	}
	return b, dropped
}

const notUnicode = "is no Unicode text: save the file as UTF-8"

// checkText refuses a text that is no UTF-8.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return errors.New("this " + notUnicode)
}
