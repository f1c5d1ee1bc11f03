package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
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

// statuses are the statuses for refusals.
var statuses = [...]int{
	refusal.NoRule:      http.StatusNotFound,
	refusal.NotEditable: http.StatusConflict,
	refusal.Changed:     http.StatusPreconditionFailed,
	refusal.Invalid:     http.StatusUnprocessableEntity,
	refusal.Unavailable: http.StatusServiceUnavailable,
	refusal.ClientGone:  statusClientGone,
}

// StatusOf returns the status for an error, which is 500 if it has none.
func StatusOf(err error) int {
	if refusal, is := errors.AsType[*StatusError](err); is {
		return refusal.Status
	}
	if r, is := errors.AsType[*refusal.Refusal](err); is {
		return statuses[r.Reason]
	}
	return http.StatusInternalServerError
}
