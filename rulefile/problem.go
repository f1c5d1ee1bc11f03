package rulefile

import (
	"errors"
	"fmt"

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

// add takes down an error.
func (e *Errors) add(at resolver.Position, format string, args ...any) {
	*e = append(*e, &Error{at, fmt.Sprintf(format, args...)})
}

// leaveOut takes down that a rule was not written, and why.
func (e *Errors) leaveOut(rule resolver.Rule, why error) {
	e.add(rule.Position, "key %q: %s", rule.Key, why)
}

// orNil returns the errors as one error, which is nil where there are none.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func quote(text string) string { return printable.Quote(text) }

// behind returns an advice to stand behind a message, or "" for none.
func behind(advice string) string {
	if advice == "" {
		return ""
	}
	return "; " + advice
}
