package rulefile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Error is one thing in a file that is no rule, or one rule that a format has no words for.
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

// Errors are all such things: of a file, in the order in which they stand there, or of rules, in theirs.
type Errors []*Error

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// add takes down an error.
func (e *Errors) add(at resolver.Position, format string, args ...any) {
	*e = append(*e, &Error{at, fmt.Sprintf(format, args...)})
}

// inOrder compares where two errors of one file stand.
func inOrder(a, b *Error) int {
	return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
}

// orNil returns the errors as one error, which is nil where there are none.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
