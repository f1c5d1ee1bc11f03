package migrate

import (
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// AddMatch adds the lines of a regular expression, which lead to a destination in which $1, ${1} and
// $name stand for what its groups captured.
func (t *Table) AddMatch(line redirects.Line, expression, to string, o pathexpr.Options) {
	e, err := pathexpr.Parse(expression, o)
	if err != nil {
		t.Refuse(line.At, pathexpr.Front(expression, "/"), err)
		return
	}
	lines, err := e.Lines(line, func(path *pathexpr.Path) ([]redirects.Piece, error) {
		pieces, err := path.Substitute(to, e.Dollar)
		if err == nil {
			err = CheckPieces(pieces)
		}
		return pieces, err
	})
	if err != nil {
		t.Refuse(line.At, e.Paths[0].Segments, err)
		return
	}
	e.AddTo(t.Table, lines)
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
