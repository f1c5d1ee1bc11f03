package rulefile

import (
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

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
