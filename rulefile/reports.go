package rulefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Kinds of warnings of a file.
const (
	// WarnNeverReached: no request reaches the line, because earlier ones match all of its
	// requests.
	WarnNeverReached lint.Kind = "line never reached"
	// WarnLeftOut: the line has no equivalent, and makes no rule.
	WarnLeftOut lint.Kind = "line left out"
	// WarnApproximated: the line's rule means nearly the same.
	WarnApproximated lint.Kind = "approximated line"
	// WarnLeadingSlash: keys of a table begin with a "/", which is removed. There is one warning
	// for a file.
	WarnLeadingSlash lint.Kind = "keys with a leading slash"
	// WarnWholeTable: a property of the whole table that its rules do not have.
	WarnWholeTable lint.Kind = "whole table"
)

// maxReports is how many errors a reader lists before it stops, and how many warnings it keeps. A
// file of a million bad lines is not a file of rules, and should not take more memory than one.
const maxReports = 10_000

// Reports collects the messages about a file. The zero value keeps as many warnings as are worth
// reading.
type Reports struct {
	keepAll  bool // warnings
	warnings []lint.Warning
	more     int // warnings that are not kept
	errs     Errors
	// unsupported are the errors of lines without an equivalent. The first says how to skip all.
	unsupported []*Error
	last        redirects.Report
	end         error // the error that ended the reading
}

// NewReports returns a collector that keeps all warnings, or as many as are worth reading.
func NewReports(keepAll bool) *Reports { return &Reports{keepAll: keepAll} }

// warn records a warning about a line; key is empty if the line makes no rule.
func (r *Reports) warn(kind lint.Kind, at resolver.Position, key, message string) {
	if len(r.warnings) >= maxReports && !r.keepAll {
		r.more++
		return
	}
	r.warnings = append(r.warnings,
		lint.Warning{Kind: kind, Position: at, Key: key, Message: message})
}

// wrong records an error, unless the reading has ended. Too many errors end it.
func (r *Reports) wrong(at resolver.Position, format string, args ...any) {
	switch {
	case r.end != nil:
	case len(r.errs) < maxReports:
		r.errs.add(at, format, args...)
	default:
		r.fail(&Error{at, fmt.Sprintf("this is error number %d, and reading ends here", maxReports)})
	}
}

// join makes the rule of a key of its windows, which are in the order of time, or reports what is
// wrong with them.
func (r *Reports) join(rule *resolver.Rule, windows []schedule.Window, what string) (ok bool) {
	faults := schedule.Check(windows)
	for _, fault := range faults {
		r.wrong(windows[fault.Window].Rule.Position, "%s: %s", what, fault.Message)
	}
	if faults != nil {
		return false
	}
	*rule = schedule.Join(rule.Key, rule.Position, windows)
	return true
}

// fail ends the reading, unless it has ended or the error is nil.
func (r *Reports) fail(end error) { r.end = cmp.Or(r.end, end) }

// Add adds a report of a [redirects.Table]. The same message at the same position, as from an entry
// with several lines, counts once.
func (r *Reports) Add(report redirects.Report) {
	if report == r.last {
		return
	}
	r.last = report
	switch report.Kind {
	case redirects.Wrong, redirects.Unsupported:
		r.errs.add(report.At, "%s", report.Message)
		if report.Kind == redirects.Unsupported {
			r.unsupported = append(r.unsupported, r.errs[len(r.errs)-1])
		}
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

// Result returns the warnings and the errors, sorted by position. end is the error that ended the
// reading. An io.EOF is no error, and an [*Error] is one of those listed. Any other error is
// returned alone.
func (r *Reports) Result(end error) ([]lint.Warning, error) {
	slices.SortStableFunc(r.warnings, func(a, b lint.Warning) int {
		return a.Position.Compare(b.Position)
	})
	if r.more > 0 {
		r.warnings = append(r.warnings, lint.Warning{Kind: "more warnings",
			Position: r.warnings[len(r.warnings)-1].Position,
			Message:  fmt.Sprintf("%d more warnings of the file are left out", r.more)})
	}
	byPlace := func(a, b *Error) int { return a.Position.Compare(b.Position) }
	slices.SortStableFunc(r.errs, byPlace)
	if len(r.unsupported) > 0 {
		slices.MinFunc(r.unsupported, byPlace).Message += "; or leave such lines out: unsupported " +
			"skip in the source's block, or --unsupported skip"
	}
	end = cmp.Or(r.end, end)
	if last, ok := errors.AsType[*Error](end); ok {
		return r.warnings, append(r.errs, last)
	}
	if end != io.EOF {
		return r.warnings, end
	}
	return r.warnings, r.errs.orNil()
}
