// Package directives finds directives in Caddyfiles, with the positions that they lose in JSON.
//
// A directive is its tokens: its name, the rest of its line, and its block. The package imports
// nothing of the module.
package directives

import (
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// InFile returns the directives with a name anywhere in a Caddyfile or its imports; none if the
// file cannot be read or is not a Caddyfile.
func InFile(path, name string) (found [][]caddyfile.Token) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	blocks, err := caddyfile.Parse(path, text)
	if err != nil {
		return nil
	}
	shorthands := httpcaddyfile.NewShorthandReplacer()
	for _, block := range blocks {
		for _, segment := range block.Segments {
			shorthands.ApplyToSegment(&segment)
			found = append(found, In(segment, name)...)
		}
	}
	return found
}

// In returns the directives with a name in a segment.
func In(segment []caddyfile.Token, name string) (found [][]caddyfile.Token) {
	for i := 0; i < len(segment); i++ {
		if !begins(segment, i, name) {
			continue
		}
		whole := segment[i : i+length(segment[i:])]
		found = append(found, whole)
		i += len(whole) - 1 // a word in its block can equal the directive's name
	}
	return found
}

func begins(tokens []caddyfile.Token, i int, name string) bool {
	return tokens[i].Text == name && (i == 0 || !onOneLine(tokens[i-1], tokens[i]))
}

func onOneLine(a, b caddyfile.Token) bool { return a.Line == b.Line && a.File == b.File }

// length returns how many of the tokens belong to the directive that they begin with.
func length(tokens []caddyfile.Token) int {
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
