package rulefile

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Error is an invalid rule of a file, or a rule that a format cannot express.
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

// Errors are all such errors of a file, or of rules, in order.
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

// add appends an error.
func (e *Errors) add(at resolver.Position, format string, args ...any) {
	*e = append(*e, &Error{at, fmt.Sprintf(format, args...)})
}

// leaveOut records that a rule was not written, and why.
func (e *Errors) leaveOut(rule resolver.Rule, why error) {
	e.add(rule.Position, "key %q: %s", rule.Key, why)
}

// orNil returns the errors as one error, or nil.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func quote(text string) string { return printable.Quote(text) }

// behind returns advice to append to a message, or "".
func behind(advice string) string {
	if advice == "" {
		return ""
	}
	return "; " + advice
}
