package pathexpr

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
)

// addRepeated adds a variable for a repetition.
func (b *builder) addRepeated(s state, e *syntax.Regexp, name string) ([]state, error) {
	of := e.Sub[0]
	isAny := of.Op == syntax.OpAnyChar || of.Op == syntax.OpAnyCharNotNL ||
		b.IsEncoded && isNoneOf(of, "?")
	isSegment := isNoneOf(of, "/") || b.IsEncoded && isNoneOf(of, "/?")
	least, isEndless := leastOf(e)
	isUnlike := !isEndless || least > 1
	isLoose := b.Loosely && !s.isEnded && hasNoSlash(of) && (isUnlike || !isSegment)
	switch {
	case isLoose:
		least = min(least, 1)
		b.loosen(e)
	case isUnlike || s.isEnded:
		return nil, b.refuse(e)
	}
	s.isBegun = s.isBegun || isAny && b.isAtStart(&s)
	switch {
	case !s.isBegun:
		return nil, errNoBegin
	case !isAny && !isLoose && !isSegment:
		return nil, errors.New(b.quote(e) + " matches only some characters, but a variable matches all " +
			"in a segment; write [^/]+ or --loosely if that is meant, or " + Remedy)
	case s.hasRest:
		return nil, errBehindRest
	case s.endsInVariable() && (least == 1 || !isAny):
		return nil, b.refuse(e)
	}
	isLazy := e.Flags&syntax.NonGreedy != 0
	if isAny {
		return b.addAll(s, least == 1 && len(s.parts) > 0, isLazy)
	}
	with := s
	with.append(redirects.Part{Variable: name})
	with.isLazy = isLazy
	switch {
	case len(s.parts) == 0:
		return nil, nil // a path begins with "/"
	case least == 1:
		return []state{with}, nil
	case isLazy:
		return []state{s, with}, nil
	}
	return []state{with, s}, nil
}

// hasNoSlash reports whether an expression matches characters of a segment.
func hasNoSlash(e *syntax.Regexp) bool {
	for i := 0; i+1 < len(e.Rune); i += 2 {
		if e.Rune[i] <= '/' && '/' <= e.Rune[i+1] {
			return false
		}
	}
	return e.Op == syntax.OpCharClass
}

// loosen notes that a variable matches more than a part of the expression.
func (b *builder) loosen(e *syntax.Regexp) {
	if part := b.quote(e); !slices.Contains(b.expression.Loosened, part) {
		b.expression.Loosened = append(b.expression.Loosened, part)
	}
}

// leastOf returns the least number of repetitions, and whether there is no limit.
func leastOf(e *syntax.Regexp) (least int, isEndless bool) {
	switch e.Op {
	case syntax.OpStar:
		return 0, true
	case syntax.OpPlus:
		return 1, true
	}
	return e.Min, e.Max < 0
}

// isNoneOf reports whether an expression matches any character except these, which are sorted and
// not adjacent.
func isNoneOf(e *syntax.Regexp, characters string) bool {
	ranges := []rune{0}
	for _, c := range characters {
		ranges = append(ranges, c-1, c+1)
	}
	return e.Op == syntax.OpCharClass && slices.Equal(e.Rune, append(ranges, utf8.MaxRune))
}

// addAll adds the rest of a path. After a variable, the rest begins with a slash, or is empty.
func (b *builder) addAll(s state, isSome, isLazy bool) ([]state, error) {
	with := s
	if err := b.addRest(&with, isSome); err != nil {
		return nil, err
	}
	with.isLazy = isLazy
	if s.endsInVariable() {
		return []state{with, s}, nil
	}
	return []state{with}, nil
}

// addRest adds the rest of a path.
func (b *builder) addRest(s *state, isSome bool) error {
	switch {
	case s.isLazy:
		return errLazy
	case s.hasRest:
		return nil
	case s.hasSpan:
		return errBehindRest
	case len(s.parts) == 0, s.endsInVariable():
		s.append(redirects.Part{Text: "/"})
	}
	s.hasRest = true
	spans := redirects.Rest
	if isSome {
		spans = redirects.Some
	}
	s.append(redirects.Part{Variable: redirects.Splat, Spans: spans})
	return nil
}
