// Package pathexpr turns regular expressions into lines of a table. Those that a few paths with
// variables say are taken over: texts, segments, alternatives of these, and at the end what is left.
//
//	^/a(?:/index\.html)?$     /a/index.html, and /a
//	^/blog/([^/]+)/?$         /blog/{p1}
//	^/(?:old|older)/(.*)$     /old/{splat}, and /older/{splat}
//
// Other ways to write paths with variables, such as globs, are written as an expression first.
package pathexpr

import "github.com/caddy-shortlink/shortlink/internal/redirects"

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
	// Remedy is what the messages of refusals advise; "" for writing a rule for each path.
	Remedy string
}

// Expression is a regular expression that has been taken apart.
type Expression struct {
	// Paths are the paths that it matches. Of those that take a request, the first counts.
	Paths []Path
	// Names are those of the groups, by number; "" for those without.
	Names []string
	// WantsQuery tells that it matches paths with a query alone, and has no Paths.
	WantsQuery bool
	// approximations are its differences, as [Expression.Approximations] words them.
	folds, hasDots, hasRoot, isAnywhere, hasQuery bool
}

// Path is one of the paths of an expression, with what its groups are in a destination.
type Path struct {
	Segments []redirects.Segment
	// Groups are what of the path they captured, by number; nil for nothing.
	Groups [][]redirects.Piece
}

// Parse takes a regular expression apart, or says why it has no equivalent.
func Parse(written string, o Options) (*Expression, error) { return nil, nil }

// Front returns the paths of which an expression without an equivalent takes some: those that begin
// with the text that it begins with, behind the base, which ends in a slash.
func Front(expression, base string) []redirects.Segment { return nil }

// Approximations say what an expression means elsewhere and its lines do not.
func (e *Expression) Approximations() []string { return nil }

// Lines returns the lines of an expression: line with each of its paths, and with the destination
// that to makes of it if the line leads somewhere.
func (e *Expression) Lines(
	line redirects.Line, to func(*Path) ([]redirects.Piece, error),
) ([]redirects.Line, error) {
	return nil, nil
}

// AddTo adds lines of an expression to a table, and says in which ways they differ.
func (e *Expression) AddTo(t *redirects.Table, lines []redirects.Line) {}

// Reference is what a text of a destination begins with: a group, by its number, in so many bytes;
// or an escape, which stands for Text.
type Reference struct {
	Group  int // -1 for none
	Text   string
	Length int // 0 for no reference at all
}

// Substitute returns a destination in which references to groups are replaced by what a path has
// for them. find tells what a text begins with; the error is its own.
func (p *Path) Substitute(
	to string, find func(text string) (Reference, error),
) ([]redirects.Piece, error) {
	return nil, nil
}

// Dollar finds $1, ${1}, $name and ${name}, and refuses any other "$".
func (e *Expression) Dollar(text string) (Reference, error) { return Reference{}, nil }

// Numbered finds $0 to $9, and nothing else.
func (e *Expression) Numbered(text string) (Reference, error) { return Reference{}, nil }

// Colon finds :name for groups with a name. Of several with which a text begins, the first in the
// expression counts.
func (e *Expression) Colon(text string) (Reference, error) { return Reference{}, nil }
