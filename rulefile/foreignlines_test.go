package rulefile_test

import (
	"errors"
	"io"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// foreignLine is a line as readers of other programs' tables give it, in texts with marks around
// what is captured.
type foreignLine struct {
	Path, To, Itself string
	IsGone           bool
	Status           int
	Query            resolver.QueryMode
}

const (
	capturedRest = "\x01splat\x02"
	capturedSome = "\x01splat+\x02"
)

func captured(name string) string { return "\x01" + name + "\x02" }

// segmentsOf returns the segments of a path with marks.
func segmentsOf(path string) (segments []redirects.Segment) {
	for _, s := range redirects.Text(path) {
		before, rest, isVariable := strings.Cut(s.Before, "\x01")
		if isVariable {
			name, after, _ := strings.Cut(rest, "\x02")
			s = redirects.Segment{Before: before, Variable: strings.TrimSuffix(name, "+"), After: after}
			switch name {
			case "splat":
				s.Spans = redirects.Rest
			case "splat+":
				s.Spans = redirects.Some
			}
		}
		segments = append(segments, s)
	}
	return segments
}

// piecesOf returns the pieces of a destination with marks, nil for "".
func piecesOf(to string) (pieces []redirects.Piece) {
	for to != "" {
		text, rest, isVariable := strings.Cut(to, "\x01")
		if text != "" {
			pieces = append(pieces, redirects.Piece{Text: text})
		}
		if !isVariable {
			return pieces
		}
		name, behind, _ := strings.Cut(rest, "\x02")
		pieces = append(pieces, redirects.Piece{Variable: name})
		to = behind
	}
	return pieces
}

// readForeignLines makes rules of lines.
func readForeignLines(
	o rulefile.Reading, lines []foreignLine, slashesCount bool, add func(resolver.Rule),
) ([]lint.Warning, error) {
	reports := rulefile.NewReports(true)
	t := redirects.NewTable(redirects.Options{
		Program: "apart", Status: o.Status, Query: o.Query, Report: reports.Add,
	})
	if slashesCount {
		t.Slashes = redirects.SlashesMerged
	}
	for i, l := range lines {
		line := redirects.Line{At: resolver.Position{Source: "table", Line: i + 1, Column: 1},
			Path: segmentsOf(l.Path), To: piecesOf(l.To), Itself: piecesOf(l.Itself),
			Status: l.Status, Query: l.Query}
		if strings.Contains(redirects.Visible(line.Path), "\x01") {
			line.Path, line.Refused = nil, errors.New("a segment has two variables")
		}
		if l.IsGone {
			line.Answer = redirects.Gone
		}
		t.Add(line)
	}
	t.Rules(add)
	return reports.Result(io.EOF)
}
