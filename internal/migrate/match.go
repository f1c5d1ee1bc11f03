package migrate

import (
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

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
