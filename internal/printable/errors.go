package printable

import (
	"fmt"
	"strings"
)

// readableError shows only the first lines of an error.
type readableError struct {
	text  string
	whole error
}

// toldLines is how many lines of an error are shown.
const toldLines = 100

// Shorten returns an error that shows the first lines of err, and how many more there are.
func Shorten(err error) error {
	text := err.Error()
	end := 0
	for range toldLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return err
		}
		end += i + 1
	}
	return &readableError{fmt.Sprintf("%s(%d more)", text[:end], strings.Count(text[end:], "\n")+1),
		err}
}

// Error returns the text.
func (e *readableError) Error() string { return e.text }

// Unwrap returns the whole error.
func (e *readableError) Unwrap() error { return e.whole }

// Count returns a number of things, in words.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
