package pathexpr

import (
	"errors"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// state is a path that is being built.
type state struct {
	parts  []redirects.Part
	groups []groupSpan
	// isBegun and isEnded: "^" and "$" have been read. hasRest: only "$" can follow. hasSpan: a
	// variable in the middle spans segments.
	isBegun, isEnded, hasRest, hasSpan bool
	// isLazy says that the path ends in a lazy variable.
	isLazy bool
}

// groupSpan is the parts of a path that a group has captured.
type groupSpan struct{ number, from, to int }

func (s *state) last() redirects.Part {
	if len(s.parts) == 0 {
		return redirects.Part{}
	}
	return s.parts[len(s.parts)-1]
}

func (s *state) append(p redirects.Part) { s.parts = append(slices.Clip(s.parts), p) }

func (s *state) endsInVariable() bool { return s.last().Variable != "" }

func (s *state) endsInSlash() bool { return strings.HasSuffix(s.last().Text, "/") }

// builder builds the paths of a regular expression.
type builder struct {
	Options
	written    string // the whole expression
	expression *Expression
	variables  int
}

// start returns the state with only the base.
func (b *builder) start() (s state) {
	if b.Base != "" {
		s.append(redirects.Part{Text: b.Base})
	}
	return s
}

// isAtStart reports whether the state has only the base.
func (b *builder) isAtStart(s *state) bool {
	return len(s.parts) == 0 || b.Base != "" && len(s.parts) == 1
}

// add returns the paths continued with an expression, in the order in which they are tried.
func (b *builder) add(states []state, e *syntax.Regexp) (more []state, err error) {
	if e.Op == syntax.OpConcat {
		for _, sub := range e.Sub {
			if states, err = b.add(states, sub); err != nil {
				return nil, err
			}
		}
		return states, nil
	}
	name := "" // of the variable for a repetition, the same in all paths
	switch e.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		b.variables++
		name = "p" + strconv.Itoa(b.variables)
	}
	return together(states, func(s state) ([]state, error) { return b.addTo(s, e, name) })
}

// together returns the paths of all alternatives.
func together[T any](ways []T, add func(T) ([]state, error)) (all []state, err error) {
	for _, way := range ways {
		more, err := add(way)
		if err != nil {
			return nil, err
		}
		if all = append(all, more...); len(all) > maxPaths {
			return nil, errTooManyPaths
		}
	}
	return all, nil
}

// addTo is add for one path. name is that of the variable for a repetition.
func (b *builder) addTo(s state, e *syntax.Regexp, name string) ([]state, error) {
	switch e.Op {
	case syntax.OpEmptyMatch:
		return []state{s}, nil
	case syntax.OpNoMatch:
		return nil, nil
	case syntax.OpBeginText, syntax.OpBeginLine:
		if s.isBegun = true; !b.isAtStart(&s) {
			return nil, nil
		}
		return []state{s}, nil
	case syntax.OpEndText, syntax.OpEndLine:
		s.isEnded = true
		return []state{s}, nil
	case syntax.OpLiteral:
		if e.Flags&syntax.FoldCase != 0 {
			return nil, errors.New("(?i) must be at the beginning of the regular expression; write it there")
		}
		b.expression.Folds = b.expression.Folds || b.Folds &&
			slices.ContainsFunc(e.Rune, unicode.IsLetter)
		return b.addText(s, string(e.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.expression.HasDots = true
		return b.addText(s, ".")
	case syntax.OpCharClass:
		return b.addClass(s, e)
	case syntax.OpCapture:
		return b.addGroup(s, e)
	case syntax.OpAlternate:
		return together(e.Sub, func(sub *syntax.Regexp) ([]state, error) {
			return b.add([]state{s}, sub)
		})
	case syntax.OpQuest:
		return b.addOptional(s, e)
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return b.addRepeated(s, e, name)
	}
	return nil, b.refuse(e)
}

// addText adds text. There is no path if it does not begin with exactly one slash, or has two in a
// row.
func (b *builder) addText(s state, text string) ([]state, error) {
	switch {
	case !s.isBegun:
		return nil, errNoBegin
	case s.isEnded, len(s.parts) == 0 && text[0] != '/':
		return nil, nil
	case b.Base != "" && b.isAtStart(&s):
		text = strings.TrimPrefix(text, "/") // as in a server's own configuration
	case b.IsEncoded && strings.Contains(text, "?"):
		b.expression.HasQuery = true
		return nil, nil
	case s.hasRest && !b.endSpan(&s, text):
		if text == "/" && everySlash.MatchString(b.written) {
			return nil, errEverySlash
		}
		return nil, errBehindRest
	}
	if s.endsInSlash() && strings.HasPrefix(text, "/") {
		return nil, nil
	}
	s.append(redirects.Part{Text: b.encoded(text)})
	s.isLazy = false
	return []state{s}, nil
}

// endSpan turns the variable for all that is left into one for several segments in the middle, if
// it matches at least one whole segment.
func (b *builder) endSpan(s *state, text string) bool {
	n := len(s.parts)
	isWhole := s.last().Spans == redirects.Some && n > 1 && strings.HasSuffix(s.parts[n-2].Text, "/")
	if !b.Spans || !isWhole || s.hasSpan || text[0] != '/' {
		return false
	}
	s.parts = slices.Clone(s.parts)
	s.parts[n-1].Spans = redirects.Several
	s.hasRest, s.hasSpan = false, true
	return true
}

// encoded returns text of an expression, encoded as in a path.
func (b *builder) encoded(text string) string {
	if b.IsEncoded {
		return strings.ReplaceAll(text, "#", "%23")
	}
	return redirects.Encoded(text)
}

// addClass adds one of a few characters.
func (b *builder) addClass(s state, e *syntax.Regexp) ([]state, error) {
	const few = 16
	var characters []rune
	for i := 0; i < len(e.Rune); i += 2 {
		if len(characters)+int(e.Rune[i+1]-e.Rune[i]) >= few {
			return nil, b.refuse(e)
		}
		for c := e.Rune[i]; c <= e.Rune[i+1]; c++ {
			characters = append(characters, c)
		}
	}
	return together(characters, func(c rune) ([]state, error) { return b.addText(s, string(c)) })
}

// addGroup adds the content of a group.
func (b *builder) addGroup(s state, e *syntax.Regexp) ([]state, error) {
	from := len(s.parts)
	more, err := b.add([]state{s}, e.Sub[0])
	for i := range more {
		groups := slices.Clip(more[i].groups)
		more[i].groups = append(groups, groupSpan{e.Cap, from, len(more[i].parts)})
	}
	return more, err
}

// addOptional adds the paths with and without an expression.
func (b *builder) addOptional(s state, e *syntax.Regexp) ([]state, error) {
	if s.hasRest && e.Sub[0].Op == syntax.OpLiteral && string(e.Sub[0].Rune) == "/" {
		return []state{s}, nil
	}
	with, err := b.add([]state{s}, e.Sub[0])
	if err != nil {
		return nil, err
	}
	if e.Flags&syntax.NonGreedy != 0 {
		return append([]state{s}, with...), nil
	}
	return append(with, s), nil
}

// finish adds a path that ends here. It leaves out one that differs from an earlier one only in a
// slash at its end or in names, and one that no request has.
func (b *builder) finish(s *state) error {
	if !s.isBegun {
		return errNoBegin
	}
	if !s.isEnded {
		if err := b.addRest(s, false); err != nil {
			return err
		}
	}
	if len(s.parts) == 0 {
		return nil
	}
	b.nameVariables(s)
	segments, err := redirects.SegmentsOf(s.parts)
	if err != nil {
		return err
	}
	e := b.expression
	if len(segments) == 1 && segments[0] == (redirects.Segment{}) {
		e.HasRoot = true
		return nil
	}
	name := b.nameless(segments)
	if slices.ContainsFunc(e.Paths, func(p Path) bool { return b.nameless(p.Segments) == name }) {
		return nil
	}
	if isReached, err := redirects.Check(segments, b.Slashes); err != nil {
		if !isReached {
			return nil
		}
		return err
	}
	p := Path{Segments: segments, Groups: make([][]redirects.Piece, len(e.Names))}
	for _, g := range s.groups {
		p.Groups[g.number] = pieces(s.parts[g.from:g.to])
	}
	if b.Base != "" {
		s.parts = s.parts[1:]
	}
	p.Groups[0] = pieces(s.parts)
	e.Paths = append(e.Paths, p)
	return nil
}

// nameVariables names variables after the groups that capture them.
func (b *builder) nameVariables(s *state) {
	if b.Names == nil {
		return
	}
	s.parts = slices.Clone(s.parts)
	for _, g := range s.groups {
		isAlone := g.to == g.from+1
		if isAlone && s.parts[g.from].Variable != "" && s.parts[g.from].Spans == redirects.One {
			s.parts[g.from].Variable = b.Names[g.number-1]
		}
	}
}

// pieces returns parts of a path as pieces of a destination.
func pieces(parts []redirects.Part) (all []redirects.Piece) {
	for _, p := range parts {
		all = append(all, redirects.Piece{Text: p.Text, Variable: p.Variable})
	}
	return joined(all)
}

// nameless returns a path as text without names of segment variables, and without a slash at its
// end, unless that matters.
func (b *builder) nameless(segments []redirects.Segment) string {
	segments = slices.Clone(segments)
	for i := range segments {
		if s := &segments[i]; !s.IsText() {
			s.Variable = "\x00" + strconv.Itoa(int(s.Spans))
		}
	}
	name := redirects.Visible(segments)
	if b.Slashes == redirects.SlashesKept {
		return name
	}
	return strings.TrimSuffix(name, "/")
}
