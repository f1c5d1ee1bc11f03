package migrate

import (
	"io"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
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

// readTable makes rules of what a reader finds.
func readTable(read Reader, in Input, add func(resolver.Rule)) (found Found, err error) {
	reports := rulefile.NewReports(true)
	t := &Table{Reading: in.Reading, Source: in.Source, Table: redirects.NewTable(redirects.Options{
		TakesBelow: in.Reading.Exact != nil && !*in.Reading.Exact,
		Status:     in.Reading.Status,
		Query:      in.Reading.Query,
		Report:     reports.Add,
	})}
	end := read(t, in.Reader)
	if end == nil {
		end = io.EOF
	}
	t.Rules(add)
	found.Entries = t.Entries()
	found.Warnings, err = reports.Result(end)
	return found, err
}
