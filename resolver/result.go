package resolver

import (
	"errors"

	"github.com/caddy-shortlink/shortlink/weburl"
)

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

// Request is a Request URL taken apart (3.2, R2).
type Request struct {
	// Scheme is http or https, and Host is host and port as in a Host header. They matter only for
	// internal destinations, and to tell whether the destination is the request itself.
	Scheme, Host string
	// Target is matched against keys. It must come from [NewRequest], [ParseRequest] or
	// [weburl.SplitTarget]. They resolve dot segments and encode what a path cannot hold; R14 relies
	// on it.
	Target weburl.Target
	// Asked is what the client asked for, if Target was rewritten since. With an empty Pathname, it is
	// Target (R15).
	Asked weburl.Target
	// OverHTTP ignores the fragment when destination and request are compared, because a server never
	// sees it (R15, R17).
	OverHTTP bool
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

// NewRequest splits a request as a server has it: a scheme, http or https, the host and port of its
// Host header, and its raw target. ok is false if the target does not begin with "/". A target
// never names a host, not even "//evil.test/x" (R2).
func NewRequest(scheme, host, target string) (req Request, ok bool) {
	split, ok := weburl.SplitTarget(target)
	return Request{Scheme: scheme, Host: host, Target: split}, ok
}

// ParseRequest splits a Request URL, a whole http or https URL. The error is a
// [*weburl.ParseError].
func ParseRequest(requestURL string) (Request, error) {
	u, err := weburl.Parse(requestURL)
	if err != nil {
		return Request{}, err
	}
	host := u.Host
	if u.Port != "" {
		host += ":" + u.Port
	}
	return Request{
		Scheme: u.Scheme,
		Host:   host,
		Target: weburl.Target{Pathname: u.Path, Search: u.Search(), Hash: u.Hash()},
	}, nil
}
