package resolver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why a request is answered with an error. Result.Err is one of these under errors.Is.
var (
	// ErrTooManyRedirects is the error of 3.3.3. A loop is one, too. A chain that begins with a
	// template takes fewer redirects than others (R9).
	ErrTooManyRedirects = errors.New("too many internal redirects")
	// ErrLoop says that the redirects are too many because they never end.
	ErrLoop = errors.New("loop")
	// ErrUnsafePath is R14: the request's remaining path climbs or holds control characters.
	ErrUnsafePath = errors.New("unsafe path")
	// ErrTooLong says that what a request appends makes the destination longer than 65,535 bytes
	// (R10).
	ErrTooLong = errors.New("the destination is too long")
	// ErrPathTooLong is for a path of more than 8 KiB that begins as a template does (R9). The path is
	// that of the request, or one along a chain that begins with a template.
	ErrPathTooLong = errors.New("the path is too long")
	// ErrNoOrigin is R2: an internal destination for a request whose host is missing or invalid.
	ErrNoOrigin = errors.New("the request has no valid origin")
)

// LoopError is the error of a chain that never ends.
type LoopError struct {
	// Cycle are the keys of the loop in the order of the hops, in their own spelling.
	Cycle []string
}

// Error returns the draft's error and the first of the loop's keys.
func (e *LoopError) Error() string {
	return ErrTooManyRedirects.Error() + ": loop " + e.Path()
}

// Path returns the keys of the loop, from the first one to where it comes again. Of a long loop
// some are left out.
func (e *LoopError) Path() string {
	const most = 8
	keys := e.Cycle
	if len(keys) > most {
		more := fmt.Sprintf("(%d more)", len(keys)-most)
		keys = append(slices.Clone(keys[:most]), more)
	}
	return strings.Join(keys, " -> ") + " -> " + keys[0]
}

// Unwrap returns ErrTooManyRedirects, which is how the draft sees a loop, and ErrLoop.
func (e *LoopError) Unwrap() []error { return []error{ErrTooManyRedirects, ErrLoop} }
