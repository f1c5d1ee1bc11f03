package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

// Refusal is why a request is refused, with the status that it is answered with.
type Refusal struct {
	Status int
	error
}

// Unwrap returns the error itself.
func (r *Refusal) Unwrap() error { return r.error }

// Refuse returns a refusal with a status and a reason, as [fmt.Errorf] makes it.
func Refuse(status int, format string, args ...any) error {
	return &Refusal{status, fmt.Errorf(format, args...)}
}

// statusClientGone is the status that nginx and Caddy's reverse proxy have for a client that has
// not waited for its answer.
const statusClientGone = 499

// statuses are the statuses for what live rulesets refuse.
var statuses = [...]int{
	live.NoRule:      http.StatusNotFound,
	live.NotEditable: http.StatusConflict,
	live.Changed:     http.StatusPreconditionFailed,
	live.Invalid:     http.StatusUnprocessableEntity,
	live.Unavailable: http.StatusServiceUnavailable,
	live.ClientGone:  statusClientGone,
}

// StatusOf returns the status that a request is refused with, and 500 where err is no refusal.
func StatusOf(err error) int {
	if refusal, is := errors.AsType[*Refusal](err); is {
		return refusal.Status
	}
	if refusal, is := errors.AsType[*live.Refusal](err); is {
		return statuses[refusal.Reason]
	}
	return http.StatusInternalServerError
}
