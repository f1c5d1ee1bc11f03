package live

import (
	"errors"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// ErrUnloaded is the error of a handler whose configuration has been replaced.
var ErrUnloaded = refusal.Errorf(refusal.Unavailable,
	"the configuration has just been replaced; try again")

// ErrGone is the error of a client that has gone away. Nobody reads it, but it is logged.
var ErrGone = refusal.Errorf(refusal.ClientGone,
	"the client has gone, and nothing has been done")

// refusalOf turns a known error of an edit into a refusal.
func refusalOf(err error) (refused error, isKnown bool) {
	switch {
	case refusal.Is(err):
		return err, true
	case errors.Is(err, source.ErrChanged):
		return refusal.Of(refusal.Changed, err), true
	case errors.Is(err, rulefile.ErrNoRule):
		return refusal.Of(refusal.NoRule, err), true
	case errors.Is(err, source.ErrNotWritable):
		return refusal.Of(refusal.NotEditable, err), true
	case errors.Is(err, source.ErrUnavailable), errors.Is(err, source.ErrBeingWritten):
		return refusal.Of(refusal.Unavailable, err), true
	}
	if _, is := errors.AsType[rulefile.Errors](err); is {
		return refusal.Of(refusal.Invalid, err), true
	}
	return fmt.Errorf("the edit could not be written: %w", err), false
}
