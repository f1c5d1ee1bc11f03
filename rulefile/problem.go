package rulefile

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Error is one thing in a file that is no rule.
type Error struct {
	Position resolver.Position
	// Message says what is wrong and what to write instead.
	Message string
}

// Error returns position and message.
func (e *Error) Error() string {
	return e.Position.String() + ": " + e.Message
}

// Errors are all the things in a file that are no rules, in the order in which they
// stand there.
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
