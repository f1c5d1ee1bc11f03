// Package pathexpr turns regular expressions into lines of a table. Those that a few paths with
// variables say are taken over: texts, segments, alternatives of these, and at the end what is
// left.
//
//	^/a(?:/index\.html)?$     /a/index.html, and /a
//	^/blog/([^/]+)/?$         /blog/{p1}
//	^/(?:old|older)/(.*)$     /old/{splat}, and /older/{splat}
//
// Other ways to write paths with variables, such as globs, are written as an expression first.
package pathexpr

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// Options say how a program matches with a regular expression.
type Options struct {
	// Base is the encoded path that the program cuts off in front of what it matches, with a slash at
	// its end; "" for none.
	Base string
	// Folds tells that letters match in either case, IsEncoded that the program matches encoded paths
	// with their query.
	Folds, IsEncoded bool
	// Spans lets ".+" stand for segments in the middle of a path, with a slash on both sides.
	Spans bool
	// Slashes is what a slash at the end of a path means.
	Slashes redirects.Slashes
	// Names are those of the groups, by number from 1, where an expression cannot have them. A
	// variable has the name of the group that captures it and nothing else.
	Names []string
	// IsMade tells that the expression is not written by somebody, and may be of any length.
	IsMade bool
}

// Expression is a regular expression that has been taken apart.
type Expression struct {
	// Paths are the paths that it matches. Of those that take a request, the first counts.
	Paths []Path
	// Names are those of the groups, by number; "" for those without.
	Names []string
	// IsAnywhere tells that it begins with "/" and not with "^", Folds that it has letters that match
	// in either case, HasDots that "." stands for a dot, HasRoot that it matches "/", too, and
	// HasQuery that it matches paths with a query, of which there is no path.
	IsAnywhere, Folds, HasDots, HasRoot, HasQuery bool
}

// Path is one of the paths of an expression, with what its groups are in a destination.
type Path struct {
	Segments []redirects.Segment
	// Groups are what of the path they captured, by number; nil for nothing. The first one is all
	// behind the base.
	Groups [][]redirects.Piece
}

// MaxGroups is the most groups of an expression.
const MaxGroups = 64

// The longest regular expression that is taken apart, in bytes, and the most paths that it stands
// for. Each path has its own groups.
const (
	longestExpression = 1 << 13
	maxPaths          = 64
)

// Parse takes a regular expression apart, or says why it has no equivalent.
func Parse(written string, o Options) (*Expression, error) {
	if len(written) > longestExpression && !o.IsMade {
		return nil, errLongExpression
	}
	expression, isFolded := strings.CutPrefix(written, "(?i)")
	isAnywhere := strings.HasPrefix(expression, "/")
	if isAnywhere {
		expression = "^" + expression
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, unreadable(err)
	}
	if parsed.MaxCap() > MaxGroups {
		return nil, errLongExpression
	}
	o.Folds = o.Folds || isFolded
	e := &Expression{Names: parsed.CapNames(), IsAnywhere: isAnywhere}
	if o.Names != nil {
		e.Names = append([]string{""}, o.Names...)
	}
	b := builder{Options: o, written: written, expression: e}
	states, err := b.add([]state{b.start()}, parsed)
	if err != nil {
		return nil, err
	}
	for i := range states {
		if err := b.finish(&states[i]); err != nil {
			return nil, err
		}
	}
	if o.Spans {
		e.join()
	}
	switch {
	case len(e.Paths) == 0 && e.HasQuery:
		return nil, ErrQuery
	case len(e.Paths) == 0 && e.HasRoot:
		return nil, errors.New("a key is not empty, so no rule is for \"/\"; use Caddy's redir")
	case len(e.Paths) == 0:
		return nil, errors.New("no path matches the regular expression; a path begins with \"/\", and " +
			"has no \"//\"")
	}
	return e, nil
}

// join makes one path of two that differ in whether a slash or segments are there:
//
//	/a/{splat} and /a{splat}        is /a, a slash or none, and the rest
//	/a/{splat}/b and /a/b           is /a, any segments, and /b
func (e *Expression) join() {
	if len(e.Paths) != 2 {
		return
	}
	with, without := e.Paths[0].Segments, e.Paths[1].Segments
	n := len(without) - 1
	isSpan := func(s redirects.Segment) bool { return s.Spans == redirects.Several }
	at := slices.IndexFunc(with, isSpan)
	switch {
	case at >= 0 && slices.Equal(slices.Delete(slices.Clone(with), at, at+1), without):
		with[at].Spans = redirects.Any
		e.Paths = e.Paths[:1]
	case len(with) == n+2 && with[n+1].Spans == redirects.Rest && without[n].Spans == redirects.Rest &&
		without[n].Before == with[n].Before && slices.Equal(with[:n], without[:n]):
		without[n].Spans = redirects.Loose
		e.Paths = e.Paths[1:]
	}
}

// Front returns the paths of which an expression without an equivalent takes some: those that begin
// with the text that it begins with, behind the base, which ends in a slash.
func Front(expression, base string) []redirects.Segment {
	text, isAnchored := strings.CutPrefix(expression, "^")
	if !isAnchored || strings.Contains(text, "|") {
		return redirects.Below(redirects.Text(base))
	}
	text += "$"
	end := strings.IndexAny(text, `.[(*+?{\$`)
	if end > 0 && strings.IndexByte("*?{", text[end]) >= 0 {
		end-- // which may lack
	}
	path := redirects.Text(base + redirects.Encoded(strings.TrimPrefix(text[:end], "/")))
	last := &path[len(path)-1]
	last.Variable, last.Spans = redirects.Splat, redirects.Rest
	return path
}

// Approximations say what an expression means elsewhere and its lines do not.
func (e *Expression) Approximations() (how []string) {
	if e.IsAnywhere {
		how = append(how, "the regular expression matches anywhere within a path there, and at the "+
			"beginning of one here; begin it with \"^\"")
	}
	if e.HasDots {
		how = append(how, "\".\" stands for any character there, and for a dot here; write \\. for a dot")
	}
	if e.Folds {
		how = append(how, "letters of either case match there, and here those of the line alone; fold "+
			"case in the shortlink block if that is meant")
	}
	if e.HasRoot {
		how = append(how, "no rule is for \"/\", so this takes the other paths; use Caddy's redir for it")
	}
	return how
}

// Lines returns the lines of an expression: line with each of its paths, and with the destination
// that to makes of it if the line leads somewhere.
func (e *Expression) Lines(
	line redirects.Line, to func(*Path) ([]redirects.Piece, error),
) (lines []redirects.Line, err error) {
	for i := range e.Paths {
		p, line := &e.Paths[i], line
		line.Path = p.Segments
		if line.Answer == redirects.Leads {
			if line.To, err = to(p); err != nil {
				return nil, err
			}
		}
		n := len(lines)
		if n > 0 && slices.Equal(lines[n-1].Path, redirects.Below(p.Segments)) {
			lines[n-1].Itself = line.To
			continue
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// AddTo adds lines of an expression to a table, and says in which ways they differ.
func (e *Expression) AddTo(t *redirects.Table, lines []redirects.Line) {
	for _, line := range lines[:min(1, len(lines))] {
		for _, how := range e.Approximations() {
			t.Approximate(line.At, how)
		}
	}
	for _, line := range lines {
		t.Add(line)
	}
}

// Reference is what a text of a destination begins with: a group, or an escape.
type Reference struct {
	Length int // in bytes; 0 for neither
	Group  int // its number, where Text is ""
	Text   string
}

// longestDestination is from where on, in bytes, no more is added to a destination, which is too
// long then for any rule.
const longestDestination = 1 << 16

// Substitute returns a destination in which references to groups are replaced by what a path has
// for them. find tells what a text begins with; the error is its own.
func (p *Path) Substitute(
	to string, find func(text string) (Reference, error),
) (pieces []redirects.Piece, err error) {
	length, from := 0, 0
	for i := 0; i < len(to) && length+i-from < longestDestination; {
		found, err := find(to[i:])
		if err != nil {
			return nil, err
		}
		if found.Length == 0 {
			i++
			continue
		}
		more := []redirects.Piece{{Text: to[from:i]}, {Text: found.Text}}
		if found.Text == "" && found.Group < len(p.Groups) {
			more = append(more, p.Groups[found.Group]...)
		}
		for _, piece := range more {
			length += len(piece.Text) + len(piece.Variable)
		}
		pieces = append(pieces, more...)
		i += found.Length
		from = i
	}
	return joined(append(pieces, redirects.Piece{Text: to[from:]})), nil
}

// joined returns pieces of which no two in a row are text, and none is empty.
func joined(pieces []redirects.Piece) (all []redirects.Piece) {
	var text strings.Builder
	for i, p := range pieces {
		text.WriteString(p.Text)
		isEnd := p.Variable != "" || i == len(pieces)-1
		if isEnd && text.Len() > 0 {
			all = append(all, redirects.Piece{Text: text.String()})
			text.Reset()
		}
		if p.Variable != "" {
			all = append(all, redirects.Piece{Variable: p.Variable})
		}
	}
	return all
}

// Dollar finds $1, ${1}, $name and ${name}, and refuses any other "$".
func (e *Expression) Dollar(text string) (found Reference, err error) {
	if text[0] != '$' {
		return found, nil
	}
	match := dollar.FindStringSubmatch(text)
	name := match[1] + match[2] + match[3]
	n, err := strconv.Atoi(name)
	if err != nil {
		n = slices.Index(e.Names, name)
	}
	isDigit := match[1] != "" // which may stand for a group that captures nothing
	if !isDigit && (name == "" || n < 0 || n >= len(e.Names)) {
		return found, errors.New("\"$\" in the destination stands for no group of the regular " +
			"expression; write %24 for the character")
	}
	return Reference{Length: len(match[0]), Group: n}, nil
}

// dollar is a "$" with a digit, a name, or what stands in braces.
var dollar = regexp.MustCompile(`^\$(?:(\d)|\{([^}]*)\}?|(\w*))`)

// Numbered finds $0 to $9, and nothing else.
func (e *Expression) Numbered(text string) (found Reference, err error) {
	if len(text) > 1 && text[0] == '$' && isDigit(text[1]) {
		return Reference{Length: 2, Group: int(text[1] - '0')}, nil
	}
	return found, nil
}

// Colon finds :name for groups with a name. Of several with which a text begins, the first in the
// expression counts.
func (e *Expression) Colon(text string) (found Reference, err error) {
	if text[0] != ':' {
		return found, nil
	}
	for n, name := range e.Names {
		if name != "" && strings.HasPrefix(text[1:], name) {
			return Reference{Length: 1 + len(name), Group: n}, nil
		}
	}
	return found, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
