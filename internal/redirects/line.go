package redirects

import (
	"errors"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// Line is a line of a table: the paths that it matches, and its answer. A reader with several for
// one entry, such as alternatives, adds a line for each, with the same position.
type Line struct {
	// At is the position of the path, and ToAt that of the destination; the zero Position means At.
	At, ToAt resolver.Position
	// Path is what the line matches: see [Text] and [Below].
	Path []Segment
	// To is the destination of a line that Leads: a URL, or a path of the site, with query and
	// fragment.
	To []Piece
	// Itself is the destination if a Rest at the end of the path captures nothing; nil for To
	// without it.
	Itself []Piece
	Answer Answer
	Status int // of a redirect; 0 for the table's
	// Query is resolver.QueryDefault for the table's mode. There, the query of a destination
	// replaces that of the request.
	Query resolver.QueryMode
	// Onward says what a line without captures does below its path.
	Onward Onward
	// Refused says why the line has no equivalent, nil if it has one. Its Path, if known, is then
	// what the line would have matched, and RefusedAt the position to blame; the zero Position
	// means At.
	Refused   error
	RefusedAt resolver.Position
	// Notes say how the line's meaning differs here. They are reported if the line makes rules;
	// [Table.Approximate] reports at once.
	Notes []string
	// IsLater says that the line comes after all lines that are not later.
	IsLater bool
	// IsPrefix says that the line matches a path and all below it without a wildcard, as most lines
	// of its program do. It does not count towards [MaxWildcards].
	IsPrefix bool
	// NeedsSlash says that the slash before a Rest must be there: /a/* matches /a/, but not /a. As
	// rules do not tell the two apart, it matches both unless another line is for /a alone.
	NeedsSlash bool
}

// Elsewhere is the error of a line that is no rule only because of its host, its query or a header.
type Elsewhere struct {
	Err error
	URL string // what the line matches; without a host, if that is the site's
	// Accept is a regular expression of the header that requests must have, or "".
	Accept string
}

// Error returns the message.
func (e *Elsewhere) Error() string { return e.Err.Error() }

// ErrRoot is the error of a line for "/".
var ErrRoot = errors.New("a key cannot be empty, so no rule matches \"/\"; use Caddy's redir")

// Answer is the answer of a line.
type Answer uint8

// The answers.
const (
	Leads  Answer = iota // a redirect
	Gone                 // 410
	Passes               // the next handler answers
)

// Onward is what a line does below its path. Of such lines, the one with the longest path wins, as
// with rules, not the first.
type Onward uint8

// What a line does below its path.
const (
	Stays    Onward = iota // it matches only the path
	Appends                // it appends the rest to the destination
	Swallows               // it leads to the same destination
)

// Segment is a segment of a path: text, or a variable with text around it. Text is percent-encoded.
// An empty segment at the end of a path is a slash.
type Segment struct {
	Before   string // the whole segment, without a variable
	Variable string // its name, [Splat] if it spans segments; or ""
	After    string
	Spans    Span
}

// Span is how much of a path a variable matches.
type Span uint8

// The spans. Several and Any precede other segments; Rest, Some and Loose end a path.
const (
	One     Span = iota // a segment, or the part of it that the text around it leaves; not nothing
	Several             // one segment or more, without text around
	Any                 // Several, or nothing
	Rest                // all that is left, perhaps nothing; behind text or a slash
	Some                // all that is left, and not nothing
	Loose               // Rest behind text, where a slash between the two is not captured
)

// Splat is the name of the variable that spans segments; a path has at most one.
const Splat = "splat"

// Piece is a piece of a destination: text, or a captured variable of the path.
type Piece struct{ Text, Variable string }

// IsText reports whether a segment captures nothing.
func (s *Segment) IsText() bool { return s.Variable == "" }

// Text returns the segments of a percent-encoded path without captures. It begins with "/".
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

// SegmentsOf returns the segments of a path made of parts. It is an error if one has two variables.
func SegmentsOf(parts []Part) (segments []Segment, err error) {
	for i, p := range parts {
		if i == 0 {
			p.Text = strings.TrimPrefix(p.Text, "/")
			segments = append(segments, Segment{})
		}
		last := &segments[len(segments)-1]
		if p.Variable != "" {
			if !last.IsText() {
				return nil, errors.New("a segment can have one variable: what each of two matches is " +
					"ambiguous; write a rule for each path")
			}
			last.Variable, last.Spans = p.Variable, p.Spans
			continue
		}
		first, rest, more := strings.Cut(p.Text, "/")
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

// Below returns a path and all below it: /a matches /a, /a/ and /a/b.
func Below(path []Segment) []Segment {
	if n := len(path); n > 0 && path[n-1] == (Segment{}) {
		path = path[:n-1]
	}
	return append(path[:len(path):len(path)], Segment{Variable: Splat, Spans: Rest})
}

// Literal returns a destination without captures.
func Literal(to string) []Piece { return []Piece{{Text: to}} }

// WithRest returns a destination followed by the capture of a Rest at the end of the path.
func WithRest(to string) []Piece { return []Piece{{Text: to}, {Variable: Splat}} }

// Encoded encodes a path that a program compares with decoded ones.
func Encoded(decoded string) string { return encoder.Replace(decoded) }

// encoder encodes characters that are special in a URL but not in a decoded path.
var encoder = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23")

// Visible returns a path for a message: /a/:x.
func Visible(path []Segment) string { return textOf(path, ":", "") }

// pathText returns a path as text, in the form of [DestinationText]: /a/{x}.
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

// Captures reports whether a path has captures.
func (l *Line) Captures() bool {
	return slices.ContainsFunc(l.Path, func(s Segment) bool { return !s.IsText() })
}

// endsInRest reports whether a path ends in a variable for all that is left.
func (l *Line) endsInRest() bool {
	n := len(l.Path)
	return n > 0 && l.Path[n-1].Spans >= Rest
}

// endsInSlash reports whether a path ends in a slash.
func (l *Line) endsInSlash() bool {
	n := len(l.Path)
	return n > 0 && l.Path[n-1] == Segment{}
}

// Kind is the kind of a report.
type Kind uint8

// The kinds of report.
const (
	Wrong        Kind = iota // an error: the program does not accept the line, either
	Unsupported              // an error: the line has no equivalent
	NeverReached             // no request reaches the line: earlier ones match all
	LeftOut                  // the line has no equivalent, and makes no rule
	Approximated             // the line's rule means nearly the same
	WholeTable               // a property of the table that its rules do not have
)

// Report is a message about a line, or about a whole table.
type Report struct {
	Kind    Kind
	At      resolver.Position
	Message string
}

// MaxErrors is how many errors of a table are reported before reading stops. A table of a million
// bad lines is not a table of rules, and its errors should not take more memory than rules do.
const MaxErrors = 10_000
