package resolver

import (
	"errors"
	"strings"
)

// What can be wrong with a rule. A [*RuleError] is one of these under errors.Is.
var (
	ErrInvalidKey     = errors.New("invalid key")
	ErrInvalidValue   = errors.New("invalid value")
	ErrInvalidStatus  = errors.New("invalid status")
	ErrInvalidQuery   = errors.New("invalid query mode")
	ErrInvalidNote    = errors.New("invalid note")
	ErrDuplicateKey   = errors.New("duplicate key")
	ErrHostNotAllowed = errors.New("host not allowed")
)

// RuleError is one thing that keeps a rule from being loaded.
type RuleError struct {
	// Kind is one of the Err… values above.
	Kind error
	// Position and Key say which rule it is.
	Position Position
	Key      string
	// Message says what is wrong and what to write instead.
	Message string
	// First is, for a duplicate key, where the other rule stands.
	First Position
}

// Error returns position, key and message.
func (e *RuleError) Error() string {
	message := "key " + quote(e.Key) + ": " + e.Message
	if at := e.Position.String(); at != "" {
		return at + ": " + message
	}
	return message
}

// Unwrap returns the kind, for errors.Is.
func (e *RuleError) Unwrap() error { return e.Kind }

// RuleErrors are all the things that keep a ruleset from being loaded, in the order of the rules.
// Both errors.Is and errors.As look into each.
type RuleErrors []*RuleError

// Error returns one line for each error.
func (e RuleErrors) Error() string { return linesOf(e) }

// Unwrap returns the errors, for errors.Is and errors.As.
func (e RuleErrors) Unwrap() []error { return listOf(e) }

// OptionError is one thing that is wrong with the options of a ruleset.
type OptionError struct {
	// Option is the option's name in configuration.
	Option string
	// Message says what is wrong and what to write instead.
	Message string
}

// Error returns the option's name and the message.
func (e *OptionError) Error() string { return e.Option + ": " + e.Message }

// OptionErrors are all the things that are wrong with the options of a ruleset.
type OptionErrors []*OptionError

// Error returns one line for each error.
func (e OptionErrors) Error() string { return linesOf(e) }

// Unwrap returns the errors, for errors.As.
func (e OptionErrors) Unwrap() []error { return listOf(e) }

func linesOf[E error](errs []E) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

func listOf[E error](errs []E) []error {
	list := make([]error, len(errs))
	for i, err := range errs {
		list[i] = err
	}
	return list
}
