package refusal

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// Refusal is an error that is the client's to mend.
type Refusal struct {
	Reason Reason
	error
}

// Reason is one of the kinds of refusals.
type Reason int

const (
	NoRule      Reason = iota // there is no such rule
	NotEditable               // the rule cannot be edited, or not from here
	Changed                   // the rules are not what the edit requires
	Invalid                   // the rules would be invalid, or are
	Unavailable               // a later try may succeed
	ClientGone                // nobody waits for the answer any more
)

// Unwrap returns the error itself.
func (r *Refusal) Unwrap() error { return r.error }

// Of returns a refusal that is this error.
func Of(reason Reason, err error) error { return &Refusal{reason, err} }

// Errorf returns a refusal with a formatted message.
func Errorf(reason Reason, format string, args ...any) error {
	return Of(reason, fmt.Errorf(format, args...))
}

// Join returns one refusal for several, or nil for none.
func Join(refusals []error) error {
	if len(refusals) == 0 {
		return nil
	}
	first, _ := errors.AsType[*Refusal](refusals[0])
	return Of(first.Reason, printable.Shorten(errors.Join(refusals...)))
}

// Is reports whether an error is a refusal.
func Is(err error) bool {
	_, is := errors.AsType[*Refusal](err)
	return is
}
