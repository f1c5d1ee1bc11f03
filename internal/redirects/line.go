package redirects

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Line is a line of a table: the paths that it takes, and what it says of them. A reader that has
// several for one entry, such as alternatives, adds a line for each, with the same place.
type Line struct {
	// At is where the path stands, and ToAt where the destination does; the zero Position is At.
	At, ToAt resolver.Position
	// Path is what the line takes: see [Text] and [Below].
	Path []Segment
	// To is where it leads if it Leads: a URL, or a path of the site, with query and fragment.
	To []Piece
	// Itself is the destination of the path where what a Rest at its end captures is nothing; nil for
	// To with nothing in its place.
	Itself []Piece
	Answer Answer
	Status int // of a redirect; 0 for that of the table
	// Query is resolver.QueryDefault for that of the table. There the query of a destination takes
	// the place of the request's.
	Query resolver.QueryMode
	// Onward is what a line that captures nothing does with what is below its path.
	Onward Onward
	// Refused is why the line has no equivalent, nil if it has one. Then its Path, if it is known,
	// tells what the line would have taken, and RefusedAt what is to blame; the zero Position is At.
	Refused   error
	RefusedAt resolver.Position
	// Notes say in which ways the line means something else here. They are reported if the line makes
	// rules; [Table.Approximate] reports at once.
	Notes []string
	// IsLater tells that the line comes behind all lines that are none of these.
	IsLater bool
	// IsPrefix tells that the line is for a path and all below it without a wildcard, as most lines of
	// its program are. It does not count among those of [MaxWildcards].
	IsPrefix bool
}

// Answer is what a line says of the requests that it takes.
type Answer uint8

// The answers.
const (
	Leads  Answer = iota // a redirect
	Gone                 // 410
	Passes               // the next handler answers
)

// Onward is what a line does with what is below a path. Of such lines, that with the longest path
// counts, as of rules, and not the first.
type Onward uint8

// What a line does with what is below its path.
const (
	Stays    Onward = iota // nothing: it takes the path alone
	Appends                // it appends it to the destination
	Swallows               // it leads to the same destination
)

// Segment is a segment of a path: text, or a variable with text around it. Text is percent-encoded.
// An empty segment at the end of a path is a slash there.
type Segment struct {
	Before   string // all of a segment without a variable
	Variable string // the name of what is captured, [Splat] for what spans segments; "" for none
	After    string
	Spans    Span
}

// Span is how much of a path a variable takes.
type Span uint8

// The spans. Several and Any stand in front of other segments, Rest, Some and Loose at the end of a
// path.
const (
	One     Span = iota // a segment, or the part of it that the text around it leaves; not nothing
	Several             // one segment or more, without text around
	Any                 // Several, or nothing
	Rest                // all that is left, perhaps nothing; behind text or a slash
	Some                // all that is left, and not nothing
	Loose               // Rest behind text, where a slash between the two is not captured
)

// Splat is the name of the variable that spans segments, of which a path has one at most.
const Splat = "splat"

// Piece is a piece of a destination: text, or what a variable of the path captured.
type Piece struct{ Text, Variable string }

// IsText reports whether nothing of a segment is captured.
func (s *Segment) IsText() bool { return s.Variable == "" }

// Text returns the segments of a percent-encoded path that captures nothing. It begins with "/".
func Text(path string) (segments []Segment) {
	for text := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		segments = append(segments, Segment{Before: text})
	}
	return segments
}

// Part is a part of a path: text, which can have slashes, or a variable.
type Part struct {
	Text, Variable string
	Spans          Span
}

// SegmentsOf returns the segments of a path that is made of parts. The error is that one has two
// variables.
func SegmentsOf(parts []Part) (segments []Segment, err error) {
	for i, p := range parts {
		text := p.Text
		if i == 0 {
			text = strings.TrimPrefix(text, "/")
			segments = append(segments, Segment{})
		}
		last := &segments[len(segments)-1]
		if p.Variable != "" {
			if !last.IsText() {
				return nil, errTwoVariables
			}
			last.Variable, last.Spans = p.Variable, p.Spans
			continue
		}
		first, rest, more := strings.Cut(text, "/")
		if last.IsText() {
			last.Before += first
		} else {
			last.After += first
		}
		if more {
			segments = append(segments, Text("/"+rest)...)
		}
	}
	return segments, nil
}

var errTwoVariables = errors.New("a segment has one variable, as nothing would settle which of " +
	"two takes what; write a rule for each path")

// Below returns a path and all below it, with one slash in between: /a takes /a, /a/ and /a/b.
func Below(path []Segment) []Segment {
	if n := len(path); n > 0 && path[n-1] == (Segment{}) {
		path = path[:n-1]
	}
	return append(path[:len(path):len(path)], Segment{Variable: Splat, Spans: Rest})
}

// Literal returns a destination in which nothing is captured.
func Literal(to string) []Piece { return []Piece{{Text: to}} }

// WithRest returns a destination followed by what a Rest at the end of the path captures.
func WithRest(to string) []Piece { return []Piece{{Text: to}, {Variable: Splat}} }

// Encoded returns a path for a line that a program compares with decoded ones.
func Encoded(decoded string) string { return encoder.Replace(decoded) }

// encoder writes what means something else in a URL than in a decoded path.
var encoder = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23")

// Visible writes a path down for a message: /a/:x.
func Visible(path []Segment) string { return textOf(path, ":", "") }

// pathText writes a path down as piecesText does a destination: /a/{x}.
func pathText(path []Segment) string { return textOf(path, "{", "}") }

func textOf(path []Segment, before, after string) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteString("/" + s.Before)
		if !s.IsText() {
			b.WriteString(before + s.Variable + after)
		}
		b.WriteString(s.After)
	}
	return b.String()
}

// captures reports whether anything of a path is captured.
func (l *Line) captures() bool {
	return slices.ContainsFunc(l.Path, func(s Segment) bool { return !s.IsText() })
}

// endsInRest reports whether a path ends in what takes all that is left.
func (l *Line) endsInRest() bool {
	n := len(l.Path)
	return n > 0 && l.Path[n-1].Spans >= Rest
}

// endsInSlash reports whether a path ends in a slash.
func (l *Line) endsInSlash() bool {
	n := len(l.Path)
	return n > 0 && l.Path[n-1] == Segment{}
}

// Kind is what a report is about.
type Kind uint8

// The kinds of report.
const (
	Wrong        Kind = iota // an error: nothing to the program either, or without an equivalent
	NeverReached             // no request gets to the line, as earlier ones take all
	LeftOut                  // the line has no equivalent, and makes no rule
	Approximated             // the line's rule means nearly the same
	WholeTable               // something that the table means elsewhere, and its rules do not
)

// Report is what is to be said of a line, or of a whole table.
type Report struct {
	Kind    Kind
	At      resolver.Position
	Message string
}

// MaxErrors is how many errors of a table are reported before it is given up. A table of a million
// bad lines is not one of rules, and its errors are not to take more memory than rules do.
const MaxErrors = 10_000
