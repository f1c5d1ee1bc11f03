package redirects

import "github.com/caddy-shortlink/shortlink/resolver"

// Kind is what a report is about.
type Kind uint8

// The kinds of report.
const (
	Wrong        Kind = iota // the line is nothing to its program either, or has no equivalent: an error
	NeverReached             // no request gets to the line, as earlier ones have all that it would take
	LeftOut                  // the line has no equivalent, and makes no rule
	Approximated             // the line's rule means nearly the same
	WholeTable               // something that the table means elsewhere, and its rules do not
)

// Report is what is to be said of a line, or of a whole table.
type Report struct {
	Kind    Kind
	At      resolver.Position
	Message string
}

// MaxErrors is how many errors of a table are reported before it is given up. A table of a million
// bad lines is not one of rules, and its errors are not to take more memory than rules do.
const MaxErrors = 10_000
