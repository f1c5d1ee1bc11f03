package migrate

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// heldLine is a line that waits for lines of single paths, which may come before it. If it is of an
// expression that is read loosely, isOf reports whether that really matches a path.
type heldLine struct {
	redirects.Line
	isOf func(path string) bool
}

// mostHeld is how many lines may wait while single paths come before them.
const mostHeld = 1000

// Add adds a line. If an expression is read loosely, it takes paths of later lines. Later lines of
// single paths that it did not match then come before it.
func (t *Table) Add(line redirects.Line) {
	switch {
	case len(t.held) == 0:
		t.Table.Add(line)
	case len(t.held) < mostHeld && line.Refused == nil && !line.Captures() && !t.holdsPath(line.Path):
		t.Table.Add(line)
	default:
		t.held = append(t.held, heldLine{Line: line})
	}
}

// holdsPath reports whether a line that waits may match a path. Without an expression it may if it
// begins with the same text.
func (t *Table) holdsPath(path []redirects.Segment) bool {
	decoded := func(path []redirects.Segment) string {
		text := redirects.Visible(path)
		if decoded, err := url.PathUnescape(text); err == nil {
			return decoded
		}
		return text
	}
	text := decoded(path)
	return slices.ContainsFunc(t.held, func(h heldLine) bool {
		if h.isOf != nil {
			return h.isOf(text)
		}
		front, _, _ := strings.Cut(decoded(h.Path), ":")
		front = strings.TrimSuffix(front, "/")
		return len(text) >= len(front) && strings.EqualFold(text[:len(front)], front)
	})
}
