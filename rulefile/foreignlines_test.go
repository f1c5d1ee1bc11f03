package rulefile

import (
	"io"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// What the tests of tables of other programs know of lines, without a format to read them from.

// ForeignLine is a line as readers of such tables give it.
type ForeignLine struct {
	Path, To, Itself string
	IsGone           bool
	Status           int
	Query            resolver.QueryMode
}

// CapturedRest and others are what stands for what is captured.
const (
	CapturedRest = capturedRest
	CapturedSome = capturedSome
)

func Captured(name string) string { return captured(name) }

// ReadForeignLines makes rules of lines.
func (o Reading) ReadForeignLines(
	lines []ForeignLine, slashesCount bool, add func(resolver.Rule),
) ([]resolver.Warning, error) {
	read := func(t *foreignTable, _ io.Reader) error {
		t.program, t.slashesCount = "apart", slashesCount
		for i, l := range lines {
			line := foreignLine{at: resolver.Position{Source: "table", Line: i + 1, Column: 1},
				path: l.Path, to: l.To, itself: l.Itself, status: l.Status, query: l.Query}
			if l.IsGone {
				line.answer = gone
			}
			t.add(line)
		}
		return nil
	}
	return o.readForeign(nil, read, "table", add)
}
