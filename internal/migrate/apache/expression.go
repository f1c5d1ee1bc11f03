package apache

import (
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// addExpression takes in the lines of a regular expression, whose destinations to makes.
func (h *reader) addExpression(
	e *pathexpr.Expression, line redirects.Line,
	to func(*pathexpr.Path) ([]redirects.Piece, error),
) (isAdded bool) {
	lines, err := e.Lines(line, to)
	if err != nil {
		h.Refuse(line.At, e.Paths[0].Segments, err)
		return false
	}
	e.AddTo(h.Table.Table, lines)
	return true
}

// substitute returns a destination with the groups of a path in the place of $0 to $9. A backslash
// stands in front of what is meant as it is.
func (h *reader) substitute(
	e *pathexpr.Expression, p *pathexpr.Path, to string,
) ([]redirects.Piece, error) {
	pieces, err := p.Substitute(to, func(text string) (pathexpr.Reference, error) {
		if text[0] == '\\' && len(text) > 1 {
			return pathexpr.Reference{Group: -1, Text: text[1:2], Length: 2}, nil
		}
		return e.Numbered(text)
	})
	if hasTwoSlashes(firstText(pieces)) && !hasTwoSlashes(to) {
		h.said.addsSlash = true
	}
	return pieces, err
}

// firstText returns the text that a destination begins with.
func firstText(to []redirects.Piece) string {
	if len(to) == 0 {
		return ""
	}
	return to[0].Text
}

// hasTwoSlashes reports whether the path of a destination has two slashes in a row, as where a group
// begins with one behind another.
func hasTwoSlashes(to string) bool {
	if _, behind, isURL := strings.Cut(to, "://"); isURL {
		to = behind
	}
	path, _, _ := strings.Cut(to, "?")
	return strings.Contains(path, "//")
}
