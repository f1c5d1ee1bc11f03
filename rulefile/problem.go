package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Error is one thing in a file that is no rule, or a rule that a format cannot express.
type Error struct {
	Position resolver.Position
	// Message says what is wrong and what to write instead.
	Message string
}

// Error returns position and message.
func (e *Error) Error() string {
	if at := e.Position.String(); at != "" {
		return at + ": " + e.Message
	}
	return e.Message
}

// Errors are all such things of a file, or of rules, in their order.
type Errors []*Error

// Error returns one line for each error.
func (e Errors) Error() string {
	return errors.Join(e.Unwrap()...).Error()
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// maxErrors is how many errors a reader lists before it gives up. A file of a million bad lines is
// not one of rules, and its errors are not to take more memory than rules do.
const maxErrors = 10_000

// add takes down an error.
func (e *Errors) add(at resolver.Position, format string, args ...any) {
	*e = append(*e, &Error{at, fmt.Sprintf(format, args...)})
}

// addRead is add for a reader. It returns the error that ends the reading if there are too many.
func (e *Errors) addRead(at resolver.Position, format string, args ...any) (end error) {
	if len(*e) >= maxErrors {
		return &Error{at, fmt.Sprintf("this is error number %d, and reading ends here", maxErrors)}
	}
	e.add(at, format, args...)
	return nil
}

func quote(text string) string { return printable.Quote(text) }

// behind returns an advice to stand behind a message, or "" for none.
func behind(advice string) string {
	if advice == "" {
		return ""
	}
	return "; " + advice
}

// inOrder compares where two errors of one file stand.
func inOrder(a, b *Error) int { return comparePlaces(a.Position, b.Position) }

// comparePlaces compares two places of one file.
func comparePlaces(a, b resolver.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// withEnd returns the errors and one that ended the reading, as one error. There io.EOF is none,
// and an [*Error] is one of them. Any other is the reader's own, and stands alone.
func (e Errors) withEnd(end error) error {
	if last, ok := errors.AsType[*Error](end); ok {
		return append(e, last)
	}
	if end != io.EOF {
		return end
	}
	return e.orNil()
}

// orNil returns the errors as one error, which is nil where there are none.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
