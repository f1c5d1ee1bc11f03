package migrate

import (
	"cmp"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Table collects the lines that a [Reader] makes of a file.
type Table struct {
	*redirects.Table
	Input

	hasKeys     bool
	expressions Names // keys that were taken for expressions
	elsewhere   []Redirect
	held        []heldLine
}

// Reader reads a table of another program. It adds the lines of its entries to t, in order, and
// reports invalid entries. The error is nil or io.EOF at the end of the file. Otherwise it is an
// [*rulefile.Error], or the error of r.
type Reader func(t *Table, r io.Reader) error

// Position returns a place in the file.
func (t *Table) Position(line, column int) resolver.Position {
	return resolver.Position{Source: t.Source, Line: line, Column: column}
}

// Format is a format that rules can be converted from.
type Format struct {
	Name rulefile.Format
	// Files are names of its files, and extensions, in lower case.
	Files []string
	// Read reads the rules of a file; see [LinesOf].
	Read func(in Input, add func(resolver.Rule)) (ReadResult, error)
	// HasHosts reports whether an entry can be limited to one host. SaysStatus and SaysExact report
	// whether each entry states its status, and which paths it matches.
	HasHosts, SaysStatus, SaysExact bool
	// HasLines reports whether the format has lines that are not JSON.
	HasLines bool
	// SeveralPerLine reports whether entries on the same line count separately.
	SeveralPerLine bool
	// HasKeys reports whether entries can be paths or regular expressions; see [KeyKind].
	HasKeys bool
	// HasExpressions reports whether paths can be regular expressions.
	HasExpressions bool
	// IsNetlify reports whether entries mean the same as lines of _redirects.
	IsNetlify bool
}

// Input is the file to read.
type Input struct {
	io.Reader
	Source string // the name of the file, for positions
	// Reading holds the hosts of the site, and defaults for what the file leaves out.
	Reading rulefile.Reading
	// Columns holds the names of a CSV table's columns by our names, if the user states them.
	Columns map[string]string
	Keys    KeyKind
	// Loosely takes expressions for some characters for those of any; see [pathexpr.Options].
	Loosely bool
	// Base is the path of the directory of a .htaccess, with a slash at its end, or "".
	Base string
}

// ReadResult is the result of a reader, besides the rules.
type ReadResult struct {
	Warnings []lint.Warning
	// Entries counts the entries of the file if some make no rule. Otherwise it may be 0.
	Entries int
	// Elsewhere are redirects that no rule can express, but Caddy's redir.
	Elsewhere []Redirect
}

// LinesOf returns a function that reads with a [Reader], and makes rules of the lines.
func LinesOf(read Reader) func(Input, func(resolver.Rule)) (ReadResult, error) {
	return func(in Input, add func(resolver.Rule)) (found ReadResult, err error) {
		reports := rulefile.NewReports(true)
		t := &Table{Input: in}
		t.Table = redirects.NewTable(redirects.Options{
			TakesBelow: in.Reading.Exact != nil && !*in.Reading.Exact,
			Status:     in.Reading.Status,
			Query:      in.Reading.Query,
			Report:     reports.Add,
			LeftOut:    t.keepElsewhere,
		})
		end := cmp.Or(read(t, in.Reader), io.EOF)
		t.remarkOnKeys()
		for _, h := range t.held {
			t.Table.Add(h.Line)
		}
		t.Rules(add)
		found.Entries, found.Elsewhere = t.Entries(), t.elsewhere
		for i := range found.Elsewhere { // the reader may set the table's status last
			found.Elsewhere[i].Status = cmp.Or(found.Elsewhere[i].Status, t.Status, 302)
		}
		found.Warnings, err = reports.Result(end)
		return found, err
	}
}

// AddMatch adds the lines of a regular expression. In the destination, $1, ${1} and $name stand for
// the text of its groups.
func (t *Table) AddMatch(line redirects.Line, expression, to string, o pathexpr.Options) {
	o.Loosely = t.Loosely
	e, err := pathexpr.Parse(expression, o)
	if err = cmp.Or(line.Refused, err); err != nil {
		line.To = redirects.Literal(to)
		t.RefuseLine(line, pathexpr.Front(expression, "/"), err)
		return
	}
	t.AddPaths(line, e, func(path *pathexpr.Path) ([]redirects.Piece, error) {
		pieces, err := path.Substitute(to, e.Dollar)
		if err == nil && line.Answer == redirects.Leads {
			err = CheckPieces(pieces)
		}
		return pieces, err
	})
}

// AddPath adds the line of a path without patterns, or of all paths that begin with it. The path
// can lack its first slash, or be a URL of the site. The line has everything but its path.
func (t *Table) AddPath(line redirects.Line, path string, isPrefix bool) {
	text := path + redirects.DestinationText(line.To)
	path, otherHost := t.WithoutHost(path)
	path = "/" + strings.TrimPrefix(path, "/")
	line.Refused = cmp.Or(line.Refused, otherHost, CheckText("a path or a destination", text),
		CheckPath(path))
	if line.Answer == redirects.Leads && line.Refused == nil {
		line.Refused = CheckPieces(line.To)
	}
	if otherHost == nil {
		line.Path = redirects.Text(path)
	}
	if isPrefix && otherHost == nil {
		last := &line.Path[len(line.Path)-1]
		last.Variable, last.Spans = redirects.Splat, redirects.Rest
	}
	t.Add(line)
}

// AddPaths adds a line for each path of an expression. The function to makes the destination of
// each path. AddPaths reports whether it added lines; otherwise it refused the expression.
func (t *Table) AddPaths(
	line redirects.Line, e *pathexpr.Expression, to func(*pathexpr.Path) ([]redirects.Piece, error),
) bool {
	lines, err := e.Lines(line, to)
	if err != nil {
		t.RefuseLine(line, e.Paths[0].Segments, err)
		return false
	}
	for _, how := range e.Approximations() {
		t.Approximate(line.At, how)
	}
	for _, line := range lines {
		if e.Loosened != nil {
			t.held = append(t.held, heldLine{line, e.Matches})
		} else {
			t.Add(line)
		}
	}
	return true
}

// RefuseLine is Refuse for a line that already exists, with its position.
func (t *Table) RefuseLine(line redirects.Line, path []redirects.Segment, why error) {
	line.Path, line.Refused = path, why
	t.Add(line)
}

// CheckPieces is [CheckDestination] for a destination with captured parts of a path.
func CheckPieces(to []redirects.Piece) error {
	return CheckDestination(redirects.DestinationText(to))
}
