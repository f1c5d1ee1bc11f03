package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

// StatusError is an error with the status of the answer.
type StatusError struct {
	Status int
	error
}

// Unwrap returns the error itself.
func (r *StatusError) Unwrap() error { return r.error }

// Errorf returns an error with a status and a formatted message.
func Errorf(status int, format string, args ...any) error {
	return &StatusError{status, fmt.Errorf(format, args...)}
}

// statusClientGone is the status of nginx and Caddy's reverse proxy for a client that did not wait
// for its answer.
const statusClientGone = 499

// statuses are the statuses for refusals of package live.
var statuses = [...]int{
	live.NoRule:      http.StatusNotFound,
	live.NotEditable: http.StatusConflict,
	live.Changed:     http.StatusPreconditionFailed,
	live.Invalid:     http.StatusUnprocessableEntity,
	live.Unavailable: http.StatusServiceUnavailable,
	live.ClientGone:  statusClientGone,
}

// StatusOf returns the status for an error, which is 500 if it has none.
func StatusOf(err error) int {
	if refusal, is := errors.AsType[*StatusError](err); is {
		return refusal.Status
	}
	if refusal, is := errors.AsType[*live.Refusal](err); is {
		return statuses[refusal.Reason]
	}
	return http.StatusInternalServerError
}
