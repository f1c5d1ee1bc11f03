package rulefile

import (
	"fmt"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// What the reader of a file warns of.
const (
	// WarnNeverReached: no request gets to the line, as earlier ones have all that it would take.
	WarnNeverReached resolver.WarningKind = "line never reached"
	// WarnLeftOut: the line has no equivalent, and makes no rule.
	WarnLeftOut resolver.WarningKind = "line left out"
	// WarnApproximated: the line's rule means nearly the same.
	WarnApproximated resolver.WarningKind = "approximated line"
	// WarnLeadingSlash: keys of a table begin with a "/", which is cut off. One warning stands for
	// all of a file.
	WarnLeadingSlash resolver.WarningKind = "keys with a leading slash"
	// WarnWholeTable: something that the table means elsewhere, and its rules do not.
	WarnWholeTable resolver.WarningKind = "whole table"
)

// warnMore: there are more warnings than are kept.
const warnMore resolver.WarningKind = "more warnings"

// maxWarnings is how many warnings of a file are kept, for the reason of [maxErrors].
const maxWarnings = 10_000

// warnings are those of a file.
type warnings struct {
	first []resolver.Warning // at most maxWarnings, or all
	keep  bool               // all
	last  resolver.Position  // the last place of one
	n     int                // how many there are
}

// add takes down a warning about a line; key is empty where the line makes no rule.
func (w *warnings) add(
	kind resolver.WarningKind, at resolver.Position, key, format string, args ...any,
) {
	if w.n++; w.n <= maxWarnings || w.keep {
		message := fmt.Sprintf(format, args...)
		w.first = append(w.first, resolver.Warning{Kind: kind, Position: at, Key: key, Message: message})
	}
	if comparePlaces(w.last, at) < 0 {
		w.last = at
	}
}

// all returns the warnings in the order of their places. Of more than are kept, another one behind
// them says how many there are.
func (w *warnings) all() []resolver.Warning {
	slices.SortStableFunc(w.first, func(a, b resolver.Warning) int {
		return comparePlaces(a.Position, b.Position)
	})
	if more := w.n - len(w.first); more > 0 {
		message := fmt.Sprintf("%d more warnings of the file are left out", more)
		rest := resolver.Warning{Kind: warnMore, Position: w.last, Message: message}
		return append(slices.Clip(w.first), rest)
	}
	return w.first
}

// Reports collects what a [redirects.Table] reports. Make it with [NewReports].
type Reports struct {
	warned warnings
	errs   Errors
	last   redirects.Report
}

// NewReports returns a collector that keeps all warnings, or as many as are worth reading.
func NewReports(keepAll bool) *Reports { return &Reports{warned: warnings{keep: keepAll}} }

// Add takes in a report. What is said twice of a place, as an entry has several lines, counts once.
func (r *Reports) Add(report redirects.Report) {
	if report == r.last {
		return
	}
	r.last = report
	if report.Kind == redirects.Wrong {
		r.errs.add(report.At, "%s", report.Message)
		return
	}
	kind := [...]resolver.WarningKind{
		redirects.NeverReached: WarnNeverReached,
		redirects.LeftOut:      WarnLeftOut,
		redirects.Approximated: WarnApproximated,
		redirects.WholeTable:   WarnWholeTable,
	}[report.Kind]
	r.warned.add(kind, report.At, "", "%s", report.Message)
}

// Result returns the warnings and the errors, each in the order of their places. end is what ended
// the reading: io.EOF, an [*Error], which is one of them, or the reader's own, which stands alone.
func (r *Reports) Result(end error) ([]resolver.Warning, error) {
	slices.SortStableFunc(r.errs, inOrder)
	return r.warned.all(), r.errs.withEnd(end)
}
