package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// What the reader of a file warns of.
const (
	// WarnNeverReached: no request gets to the line, as earlier ones have all that it would take.
	WarnNeverReached lint.Kind = "line never reached"
	// WarnLeftOut: the line has no equivalent, and makes no rule.
	WarnLeftOut lint.Kind = "line left out"
	// WarnApproximated: the line's rule means nearly the same.
	WarnApproximated lint.Kind = "approximated line"
	// WarnLeadingSlash: keys of a table begin with a "/", which is cut off. One warning stands for
	// all of a file.
	WarnLeadingSlash lint.Kind = "keys with a leading slash"
	// WarnWholeTable: something that the table means elsewhere, and its rules do not.
	WarnWholeTable lint.Kind = "whole table"
)

// warnMore: there are more warnings than are kept.
const warnMore lint.Kind = "more warnings"

// maxErrors is how many errors a reader lists before it gives up, and maxWarnings how many
// warnings are kept. A file of a million bad lines is not one of rules, and what is said of it is
// not to take more memory than rules do.
const (
	maxErrors   = 10_000
	maxWarnings = 10_000
)

// Reports collects what is to be said of a file. The zero value keeps as many warnings as are worth
// reading.
type Reports struct {
	keepAll  bool // warnings
	warnings []lint.Warning
	more     int // warnings that are not kept
	errs     Errors
	last     redirects.Report
	end      error // what has ended the reading
}

// NewReports returns a collector that keeps all warnings, or as many as are worth reading.
func NewReports(keepAll bool) *Reports { return &Reports{keepAll: keepAll} }

// warn takes down a warning about a line; key is empty where the line makes no rule.
func (r *Reports) warn(kind lint.Kind, at resolver.Position, key, message string) {
	if len(r.warnings) >= maxWarnings && !r.keepAll {
		r.more++
		return
	}
	r.warnings = append(r.warnings,
		lint.Warning{Kind: kind, Position: at, Key: key, Message: message})
}

// wrong takes down an error, unless the reading has ended, which it does if there are too many.
func (r *Reports) wrong(at resolver.Position, format string, args ...any) {
	switch {
	case r.end != nil:
	case len(r.errs) < maxErrors:
		r.errs.add(at, format, args...)
	default:
		r.fail(&Error{at, fmt.Sprintf("this is error number %d, and reading ends here", maxErrors)})
	}
}

// fail ends the reading, unless that has ended already, or the error is nil.
func (r *Reports) fail(end error) { r.end = cmp.Or(r.end, end) }

// Add takes in what a [redirects.Table] reports. What is said twice of a place, as an entry has
// several lines, counts once.
func (r *Reports) Add(report redirects.Report) {
	if report == r.last {
		return
	}
	r.last = report
	if report.Kind == redirects.Wrong {
		r.errs.add(report.At, "%s", report.Message)
		return
	}
	kind := [...]lint.Kind{
		redirects.NeverReached: WarnNeverReached,
		redirects.LeftOut:      WarnLeftOut,
		redirects.Approximated: WarnApproximated,
		redirects.WholeTable:   WarnWholeTable,
	}[report.Kind]
	r.warn(kind, report.At, "", report.Message)
}

// Result returns the warnings and the errors, each in the order of their places. end is what ended
// the reading: io.EOF, an [*Error], which is one of them, or the reader's own, which stands alone.
func (r *Reports) Result(end error) ([]lint.Warning, error) {
	slices.SortStableFunc(r.warnings, func(a, b lint.Warning) int {
		return comparePlaces(a.Position, b.Position)
	})
	if r.more > 0 {
		message := fmt.Sprintf("%d more warnings of the file are left out", r.more)
		last := r.warnings[len(r.warnings)-1].Position
		rest := lint.Warning{Kind: warnMore, Position: last, Message: message}
		r.warnings = append(r.warnings, rest)
	}
	slices.SortStableFunc(r.errs, func(a, b *Error) int {
		return comparePlaces(a.Position, b.Position)
	})
	end = cmp.Or(r.end, end)
	if last, ok := errors.AsType[*Error](end); ok {
		return r.warnings, append(r.errs, last)
	}
	if end != io.EOF {
		return r.warnings, end
	}
	return r.warnings, r.errs.orNil()
}

// comparePlaces compares two places of one file.
func comparePlaces(a, b resolver.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
