package migrate

import (
	"cmp"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Table takes in the lines that a [Reader] makes of a file.
type Table struct {
	*redirects.Table
	// Reading says which hosts the site has, and what holds where the file says nothing.
	Reading rulefile.Reading
	Source  string // the name of the file, for positions
}

// Reader reads a table of another program. It adds the lines of its entries to t, in their order,
// and reports what is wrong with others. The error is nil or io.EOF, or what ended the reading
// before: an [*rulefile.Error], or r's own.
type Reader func(t *Table, r io.Reader) error

// Position returns a place in the file.
func (t *Table) Position(line, column int) resolver.Position {
	return resolver.Position{Source: t.Source, Line: line, Column: column}
}

// Format is a way to write rules down that they can be converted from.
type Format struct {
	Name rulefile.Format
	// Read reads the rules of a file; see [LinesOf].
	Read func(in Input, add func(resolver.Rule)) (ReadResult, error)
	// HasHosts tells that entries can be for one host; SaysStatus and SaysExact that each says which
	// status it has, and what it takes.
	HasHosts, SaysStatus, SaysExact bool
	// HasLines tells that it has lines that are no JSON.
	HasLines bool
	// HasSeveral tells that entries count each for itself that stand on one line.
	HasSeveral bool
	// IsOfNetlify tells that entries mean what lines of _redirects mean.
	IsOfNetlify bool
}

// Input is what is read.
type Input struct {
	io.Reader
	Source  string // the name of the file, for positions
	Reading rulefile.Reading
}

// ReadResult is what a reader returns besides rules.
type ReadResult struct {
	Warnings []lint.Warning
	// Entries is how many entries the file has, where some make no rule; else it may be 0.
	Entries int
}

// LinesOf reads with a [Reader], and makes rules of what it finds.
func LinesOf(read Reader) func(Input, func(resolver.Rule)) (ReadResult, error) {
	return func(in Input, add func(resolver.Rule)) (found ReadResult, err error) {
		reports := rulefile.NewReports(true)
		t := &Table{Reading: in.Reading, Source: in.Source, Table: redirects.NewTable(redirects.Options{
			TakesBelow: in.Reading.Exact != nil && !*in.Reading.Exact,
			Status:     in.Reading.Status,
			Query:      in.Reading.Query,
			Report:     reports.Add,
		})}
		end := cmp.Or(read(t, in.Reader), io.EOF)
		t.Rules(add)
		found.Entries = t.Entries()
		found.Warnings, err = reports.Result(end)
		return found, err
	}
}

// AddMatch adds the lines of a regular expression. In their destination $1, ${1} and $name stand
// for what its groups captured.
func (t *Table) AddMatch(line redirects.Line, expression, to string, o pathexpr.Options) {
	e, err := pathexpr.Parse(expression, o)
	if err != nil {
		t.RefuseLine(line, pathexpr.Front(expression, "/"), err)
		return
	}
	t.AddPaths(line, e, func(path *pathexpr.Path) ([]redirects.Piece, error) {
		pieces, err := path.Substitute(to, e.Dollar)
		if err == nil {
			err = CheckPieces(pieces)
		}
		return pieces, err
	})
}

// AddPaths adds a line for each path of an expression, which leads to the destination that to makes
// of it. It reports whether there are such lines, or the expression is refused.
func (t *Table) AddPaths(
	line redirects.Line, e *pathexpr.Expression, to func(*pathexpr.Path) ([]redirects.Piece, error),
) bool {
	lines, err := e.Lines(line, to)
	if err != nil {
		t.RefuseLine(line, e.Paths[0].Segments, err)
		return false
	}
	e.AddTo(t.Table, lines)
	return true
}

// RefuseLine is Refuse for a line that has its place in the table.
func (t *Table) RefuseLine(line redirects.Line, path []redirects.Segment, why error) {
	line.Path, line.Refused = path, why
	t.Add(line)
}

// CheckPieces is [CheckDestination] for a destination with what a path captured.
func CheckPieces(to []redirects.Piece) error {
	visible := ""
	for _, piece := range to {
		if visible += piece.Text; piece.Variable != "" {
			visible += ":" + piece.Variable
		}
	}
	return CheckDestination(visible)
}
