package resolver

import "errors"

// Outcome is the kind of a result.
type Outcome uint8

const (
	// Pass: no rule matched, or one with the value pass, or the destination is the request itself
	// (R15).
	Pass Outcome = iota
	// Redirect: there is a destination.
	Redirect
	// Failed: there is an error; its name is "error".
	Failed
	// Gone: the key, or a chain from it, is gone.
	Gone

	// Outcomes is the number of outcomes.
	Outcomes = iota
)

// String returns pass, redirect, gone or error.
func (o Outcome) String() string {
	switch o {
	case Redirect:
		return "redirect"
	case Failed:
		return "error"
	case Gone:
		return GoneValue
	}
	return PassValue
}

// Result is the answer of a ruleset to a request.
type Result struct {
	Outcome Outcome
	// Key is the key that matched first, in the rule's own spelling; empty if none did.
	Key string
	// Rule is the number of the rule with that key, below [Ruleset.Numbers]. It is valid for this
	// ruleset, and for those that share its numbers ([Ruleset.SharesNumbers]).
	Rule int
	// Hops is the number of internal redirects taken.
	Hops int
	// Status is the redirect's status code.
	Status int
	// Destination is where a redirect leads. [Ruleset.AppendDestination] leaves it empty.
	Destination string
	// Err is set when the outcome is an error.
	Err error
}

// SameForClients reports whether two results are the same for clients. They do not see the number
// of internal redirects, nor the keys of a loop.
func (r Result) SameForClients(other Result) bool {
	return r.Outcome == other.Outcome && r.Destination == other.Destination &&
		r.Status == other.Status &&
		errors.Is(r.Err, ErrLoop) == errors.Is(other.Err, ErrLoop) &&
		errors.Is(r.Err, ErrUnsafePath) == errors.Is(other.Err, ErrUnsafePath) &&
		(r.Err == ErrPathTooLong) == (other.Err == ErrPathTooLong)
}

// failed turns a result into an error.
func (r Result) failed(err error) Result {
	return Result{Outcome: Failed, Key: r.Key, Rule: r.Rule, Err: err}
}
