// Package pathexpr turns regular expressions into lines of a table. It accepts those that equal a
// few paths with variables: texts, segments, alternatives of these, and at the end the rest of the
// path.
//
//	^/a(?:/index\.html)?$     /a/index.html, and /a
//	^/blog/([^/]+)/?$         /blog/{p1}
//	^/(?:old|older)/(.*)$     /old/{splat}, and /older/{splat}
//
// Other notations of paths with variables, such as globs, are translated to an expression first.
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
	// Base is the encoded path that the program strips before it matches, with a slash at its end;
	// or "".
	Base string
	// Folds: letters match in either case. IsEncoded: the program matches encoded paths with their
	// query.
	Folds, IsEncoded bool
	// Spans allows ".+" to match segments in the middle of a path, with a slash on both sides.
	Spans bool
	// Slashes is what a slash at the end of a path means.
	Slashes redirects.Slashes
	// Names are those of the groups, by number from 1, where an expression cannot have them. A
	// variable has the name of the group that captures it and nothing else.
	Names []string
	// IsMade says that the expression was generated, and may have any length.
	IsMade bool
	// Loosely takes repetitions of some characters, such as [0-9]+, for those of any in a segment.
	Loosely bool
}

// Expression is a parsed regular expression.
type Expression struct {
	// Paths are the paths that it matches; the first that matches a request counts.
	Paths []Path
	// Names are those of the groups, by number; "" for those without.
	Names []string
	// IsAnywhere: it begins with "/" and not with "^". Folds: it has letters that match in either
	// case. HasDots: "." stands for a dot. HasRoot: it matches "/", too. HasQuery: it matches paths
	// with a query, for which there is no path.
	IsAnywhere, Folds, HasDots, HasRoot, HasQuery bool
	// Loosened are the parts that match fewer texts than their variables.
	Loosened []string

	original *regexp.Regexp // of what is loosened
	base     string
}

// Path is one of the paths of an expression, with its groups for a destination.
type Path struct {
	Segments []redirects.Segment
	// Groups are the captures of the path, by number; nil for none. The first one is all after the
	// base.
	Groups [][]redirects.Piece
}

// MaxGroups is the maximum number of groups of an expression.
const MaxGroups = 64

// Limits for the length of a regular expression in bytes, and for its paths. Each path has its own
// groups.
const (
	longestExpression = 1 << 13
	maxPaths          = 64
)

// Parse parses a regular expression, or returns why it has no equivalent.
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
	if e.Loosened != nil {
		folds := ""
		if o.Folds {
			folds = "(?i)"
		}
		if e.original, err = regexp.Compile(folds + expression); err != nil {
			return nil, unreadable(err)
		}
		e.base = o.Base
	}
	switch {
	case len(e.Paths) == 0 && e.HasQuery:
		return nil, ErrQuery
	case len(e.Paths) == 0 && e.HasRoot:
		return nil, redirects.ErrRoot
	case len(e.Paths) == 0:
		return nil, errors.New("no path matches the regular expression; a path begins with \"/\", and " +
			"has no \"//\"")
	}
	return e, nil
}

// Matches reports whether a decoded path is one of a loosened expression.
func (e *Expression) Matches(path string) bool {
	path, isBelow := strings.CutPrefix(path, e.base)
	return isBelow && e.original.MatchString(path)
}

// join merges two paths that differ only in an optional slash or optional segments:
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

// Front returns the paths of which an expression without an equivalent matches some: those that
// begin with its literal beginning, after the base, which ends in a slash.
func Front(expression, base string) []redirects.Segment {
	text, isAnchored := strings.CutPrefix(expression, "^")
	if !isAnchored || strings.Contains(text, "|") {
		return redirects.Below(redirects.Text(base))
	}
	text += "$"
	end := strings.IndexAny(text, `.[(*+?{\$`)
	if end > 0 && strings.IndexByte("*?{", text[end]) >= 0 {
		end-- // which may be missing
	}
	path := redirects.Text(base + redirects.Encoded(strings.TrimPrefix(text[:end], "/")))
	last := &path[len(path)-1]
	last.Variable, last.Spans = redirects.Splat, redirects.Rest
	return path
}

// Approximations say how the meaning of an expression and its lines differ.
func (e *Expression) Approximations() (how []string) {
	if e.IsAnywhere {
		how = append(how, "the regular expression matches anywhere within a path there, but only at the "+
			"beginning of one here; begin it with \"^\"")
	}
	for _, part := range e.Loosened {
		how = append(how, part+" matches only some characters there, but any segment, or any part of "+
			"one, here: the rule takes more paths")
	}
	if e.HasDots {
		how = append(how, "\".\" matches any character there, but a dot here; write \\. for a dot")
	}
	if e.Folds {
		how = append(how, "letters of either case match there, but here only those of the line; fold "+
			"case in the shortlink block if that is meant")
	}
	if e.HasRoot {
		how = append(how,
			"no rule can match \"/\", so this matches every other path; use Caddy's redir for it")
	}
	return how
}

// Lines returns the lines of an expression: line with each of its paths and, if it redirects, with
// the destination that to makes from it.
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
		line.NeedsSlash = true
		lines = append(lines, line)
	}
	return lines, nil
}

// Reference is the beginning of a destination's text: a group, or an escape.
type Reference struct {
	Length int // in bytes; 0 for neither
	Group  int // its number, if Text is ""
	Text   string
}

// longestDestination is the length in bytes after which a destination is too long for any rule.
const longestDestination = 1 << 16

// Substitute returns a destination in which references to groups are replaced by the captures of a
// path. find parses the beginning of a text; the error is its own.
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

// joined returns pieces without empty ones, and without two texts in a row.
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

// Dollar parses $1, ${1}, $name and ${name}, and refuses any other "$".
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
	isDigit := match[1] != "" // the group may have captured nothing
	if !isDigit && (name == "" || n < 0 || n >= len(e.Names)) {
		return found, errors.New("\"$\" in the destination does not name a group of the regular " +
			"expression; write %24 for the character")
	}
	return Reference{Length: len(match[0]), Group: n}, nil
}

// dollar matches "$" with a digit, a name, or braces.
var dollar = regexp.MustCompile(`^\$(?:(\d)|\{([^}]*)\}?|(\w*))`)

// Numbered parses $0 to $9, and nothing else.
func (e *Expression) Numbered(text string) (found Reference, err error) {
	if len(text) > 1 && text[0] == '$' && isDigit(text[1]) {
		return Reference{Length: 2, Group: int(text[1] - '0')}, nil
	}
	return found, nil
}

// Colon parses :name for named groups. If several names match, the first group in the expression
// counts.
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
