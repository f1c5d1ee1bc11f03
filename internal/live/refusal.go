package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Refusal is why something cannot be done that somebody asked for.
type Refusal struct {
	Reason Reason
	error
}

// Reason is one of the kinds of refusals.
type Reason int

const (
	NoRule      Reason = iota // there is no such rule
	NotEditable               // what would change cannot be edited, or not from here
	Changed                   // the rules are not what the edit requires
	Invalid                   // the rules would be bad, or are
	Unavailable               // it may go well later
	ClientGone                // nobody waits for it any more
)

// Unwrap returns the error itself.
func (r *Refusal) Unwrap() error { return r.error }

// refuse returns a refusal, as [fmt.Errorf] makes its text.
func refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Errorf(format, args...)}
}

// refuseAll returns one refusal of some, nil for none.
func refuseAll(refusals []error) error {
	if len(refusals) == 0 {
		return nil
	}
	first, _ := errors.AsType[*Refusal](refusals[0])
	return &Refusal{first.Reason, errors.Join(refusals...)}
}

// ErrUnloaded is the answer of a handler whose configuration is not Caddy's any more.
var ErrUnloaded = refuse(Unavailable, "the configuration has just been replaced; try again")

// ErrGone is the answer to a client that has not waited for it: nobody reads it, but the log has
// it.
var ErrGone = refuse(ClientGone, "the client has gone, and nothing has been done")

func isRefusal(err error) bool {
	_, is := errors.AsType[*Refusal](err)
	return is
}

// refusalOf makes a refusal of an error of an edit, if it is a known one.
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
	case errors.Is(err, source.ErrUnavailable):
		return &Refusal{Unavailable, err}, true
	}
	if _, is := errors.AsType[rulefile.Errors](err); is {
		return &Refusal{Invalid, err}, true
	}
	return fmt.Errorf("the edit could not be written: %w", err), false
}
