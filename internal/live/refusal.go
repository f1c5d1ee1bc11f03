package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
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

// refuse returns a refusal with a formatted message.
func refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Errorf(format, args...)}
}

// refuseAll returns one refusal for several, or nil for none.
func refuseAll(refusals []error) error {
	if len(refusals) == 0 {
		return nil
	}
	first, _ := errors.AsType[*Refusal](refusals[0])
	return &Refusal{first.Reason, printable.Shorten(errors.Join(refusals...))}
}

// ErrUnloaded is the error of a handler whose configuration has been replaced.
var ErrUnloaded = refuse(Unavailable, "the configuration has just been replaced; try again")

// ErrGone is the error of a client that has gone away. Nobody reads it, but it is logged.
var ErrGone = refuse(ClientGone, "the client has gone, and nothing has been done")

func isRefusal(err error) bool {
	_, is := errors.AsType[*Refusal](err)
	return is
}

// refusalOf turns a known error of an edit into a refusal.
func refusalOf(err error) (refusal error, isKnown bool) {
	switch {
	case isRefusal(err):
		return err, true
	case errors.Is(err, source.ErrChanged):
		return &Refusal{Changed, err}, true
	case errors.Is(err, rulefile.ErrNoRule):
		return &Refusal{NoRule, err}, true
	case errors.Is(err, source.ErrNotWritable):
		return &Refusal{NotEditable, err}, true
	case errors.Is(err, source.ErrUnavailable), errors.Is(err, source.ErrBeingWritten):
		return &Refusal{Unavailable, err}, true
	}
	if _, is := errors.AsType[rulefile.Errors](err); is {
		return &Refusal{Invalid, err}, true
	}
	return fmt.Errorf("the edit could not be written: %w", err), false
}
