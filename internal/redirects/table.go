package redirects

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Options say how a program reads its table, and what its rules have where a line says nothing. A
// reader may set those of a [Table] that it finds out as long as it adds lines.
type Options struct {
	// Program is what the table is for, as reports name it: "nginx".
	Program string
	Slashes Slashes
	// LastCounts tells that of lines with the same path, in either letter case, the last one counts.
	LastCounts bool
	// PassesThere tells that the program passes on what a line redirects nowhere, too.
	PassesThere bool
	// LaterRemedy is what to do if a line that is no later one takes all of one that is; "" for
	// nothing else than for other lines.
	LaterRemedy string
	// RefusedIsWrong makes errors of lines without an equivalent, which are left out otherwise.
	RefusedIsWrong bool
	// PairsBelow makes one rule of a line for a path, and the next one for all below, if that goes on
	// with the destination of the first.
	PairsBelow bool
	// TakesBelow tells that lines that capture nothing are to take what is below their path, too.
	TakesBelow bool
	Status     int                // of lines without one
	Query      resolver.QueryMode // of lines without one whose destination has no query
	// Report is called with what is to be said of the lines.
	Report func(Report)
}

// Slashes is what a slash at the end of a path means to a program.
type Slashes uint8

// What slashes mean.
const (
	SlashesIgnored Slashes = iota // /a and /a/ are one path, as they are for rules
	SlashesMerged                 // they are two, and rules take both: reports say so
	SlashesKept                   // they are two, and a rule more tells them apart
)

// Table takes in lines, and makes rules of them. Make it with [NewTable].
type Table struct {
	Options
	lines   []Line
	entries int
	last    resolver.Position // of the last entry
	wrong   int
}

// NewTable makes an empty table.
func NewTable(o Options) *Table { return &Table{Options: o} }

// Add takes in a line.
func (t *Table) Add(line Line) {
	t.Count(line.At)
	t.lines = append(t.lines, line)
}

// Refuse takes in an entry that has no equivalent. The path is what it takes, nil if that cannot be
// said.
func (t *Table) Refuse(at resolver.Position, path []Segment, why error) {
	t.Add(Line{At: at, Path: path, Refused: why})
}

// Count counts an entry of the table that makes no line. Lines of one place are one entry.
func (t *Table) Count(at resolver.Position) {
	if at != t.last || t.entries == 0 {
		t.entries++
	}
	t.last = at
}

// Entries returns how many entries have been counted.
func (t *Table) Entries() int { return t.entries }

// Wrong reports something that is nothing to the program either.
func (t *Table) Wrong(at resolver.Position, format string, args ...any) {
	t.Count(at)
	t.wrong++
	t.Report(Report{Wrong, at, fmt.Sprintf(format, args...)})
}

// IsGivenUp reports whether there have been as many errors as are reported, and says so at a place.
// A reader asks it now and then, and stops.
func (t *Table) IsGivenUp(at resolver.Position) bool {
	if t.wrong < MaxErrors {
		return false
	}
	if t.wrong == MaxErrors {
		t.Wrong(at, "this is error number %d, and reading ends here", MaxErrors)
	}
	return true
}

// Approximate says in which way what has been taken in at a place differs.
func (t *Table) Approximate(at resolver.Position, why string) {
	t.Report(Report{Approximated, at, why})
}

// Drop says that what stands at a place makes no rule, as no request gets to it.
func (t *Table) Drop(at resolver.Position, why string) {
	t.Count(at)
	t.Report(Report{NeverReached, at, why})
}

// Remark says what is true of the table as a whole.
func (t *Table) Remark(format string, args ...any) {
	t.Report(Report{Kind: WholeTable, Message: fmt.Sprintf(format, args...)})
}

// Rules passes the rules of all lines to add, in the order of the lines.
func (t *Table) Rules(add func(resolver.Rule)) {}
