package apache

import (
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/internal/redirects/pathexpr"
)

// substitute returns a destination with the groups of a path in the place of $0 to $9. A backslash
// stands in front of what is meant as it is.
func (h *reader) substitute(
	e *pathexpr.Expression, p *pathexpr.Path, to string,
) ([]redirects.Piece, error) {
	pieces, err := p.Substitute(to, func(text string) (pathexpr.Reference, error) {
		if text[0] == '\\' && len(text) > 1 {
			return pathexpr.Reference{Text: text[1:2], Length: 2}, nil
		}
		return e.Numbered(text)
	})
	if len(pieces) > 0 && hasTwoSlashes(pieces[0].Text) && !hasTwoSlashes(to) {
		h.said.addsSlash = true
	}
	return pieces, err
}

// hasTwoSlashes reports whether the path of a destination has two slashes in a row, as where a
// group begins with one behind another.
func hasTwoSlashes(to string) bool {
	if _, behind, isURL := strings.Cut(to, "://"); isURL {
		to = behind
	}
	path, _, _ := strings.Cut(to, "?")
	return strings.Contains(path, "//")
}

// wantsQuery reports whether all that an expression matches has a "?".
func wantsQuery(e *pathexpr.Expression) bool {
	hasQuery := func(s redirects.Segment) bool { return strings.Contains(s.Before+s.After, "%3F") }
	return !slices.ContainsFunc(e.Paths, func(p pathexpr.Path) bool {
		return !slices.ContainsFunc(p.Segments, hasQuery)
	})
}
