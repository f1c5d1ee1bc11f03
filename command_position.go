package shortlink

import (
	"errors"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// inDirectives returns what is wrong with the directives of a Caddyfile, each with its place. err
// is why Caddy could not adapt it: it stops at the first directive, and keeps a text alone.
func inDirectives(err error, path string) error {
	told := false
	var errs []error
	for _, written := range directivesIn(path) {
		if written.err != nil {
			errs = append(errs, written.err)
			told = told || strings.Contains(err.Error(), written.err.Error())
		}
	}
	if !told {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writtenDirective is a shortlink directive as a Caddyfile has it, and what is wrong with it.
type writtenDirective struct {
	*Handler
	err error
	at  resolver.Position
}

// directivesIn returns the shortlink directives of a Caddyfile, wherever they stand in it; none, if
// the file cannot be read or is no Caddyfile.
func directivesIn(path string) []writtenDirective {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	blocks, err := caddyfile.Parse(path, text)
	if err != nil {
		return nil
	}
	var directives []writtenDirective
	shorthands := httpcaddyfile.NewShorthandReplacer()
	for _, block := range blocks {
		for _, segment := range block.Segments {
			shorthands.ApplyToSegment(&segment)
			directives = append(directives, directivesOf(segment)...)
		}
	}
	return directives
}

// directivesOf returns the shortlink directives of a segment.
func directivesOf(segment []caddyfile.Token) (directives []writtenDirective) {
	for i := 0; i < len(segment); i++ {
		if !beginsDirective(segment, i) {
			continue
		}
		whole := segment[i : i+lengthOfDirective(segment[i:])]
		h, at := new(Handler), resolver.Position{Source: segment[i].File, Line: segment[i].Line}
		err := h.UnmarshalCaddyfile(caddyfile.NewDispenser(withoutMatcher(whole)))
		directives = append(directives, writtenDirective{h, err, at})
		i += len(whole) - 1 // a key can be called like the directive
	}
	return directives
}

func beginsDirective(tokens []caddyfile.Token, i int) bool {
	return tokens[i].Text == "shortlink" && (i == 0 || !onOneLine(tokens[i-1], tokens[i]))
}

func onOneLine(a, b caddyfile.Token) bool { return a.Line == b.Line && a.File == b.File }

// lengthOfDirective returns how many of the tokens are the directive's that they begin with.
func lengthOfDirective(tokens []caddyfile.Token) int {
	depth := 0
	for i, token := range tokens {
		switch {
		case token.Text == "{":
			depth++
		case token.Text == "}":
			depth--
		}
		if depth == 0 && (i+1 == len(tokens) || !onOneLine(token, tokens[i+1])) {
			return i + 1
		}
	}
	return len(tokens)
}

// withoutMatcher drops what stands between the directive's name and its block.
func withoutMatcher(tokens []caddyfile.Token) []caddyfile.Token {
	for i := 1; i < len(tokens) && tokens[i].Line == tokens[0].Line; i++ {
		if tokens[i].Text == "{" {
			return append([]caddyfile.Token{tokens[0]}, tokens[i:]...)
		}
	}
	return tokens
}
