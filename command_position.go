package shortlink

import (
	"cmp"
	"os"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// placeInlineRules gives the inline rules of handlers, which have lost it in Caddy's JSON, the place in the
// Caddyfile that they come from.
func placeInlineRules(handlers []*Handler, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return // it has been read before, so it was standard input
	}
	written := directivesIn(path, text)
	for _, h := range handlers {
		for _, candidate := range written {
			if candidate.Name == h.Name && sameRules(candidate.Rules, h.Rules) {
				h.Rules = candidate.Rules
				break
			}
		}
	}
}

// sameRules reports whether rules are the same, wherever and in whichever order they stand.
func sameRules(a, b Rules) bool {
	byKey := func(a, b resolver.Rule) int { return cmp.Compare(a.Key, b.Key) }
	same := func(a, b resolver.Rule) bool {
		a.Position, b.Position = resolver.Position{}, resolver.Position{}
		return a == b
	}
	return slices.EqualFunc(slices.SortedFunc(slices.Values(a), byKey), slices.SortedFunc(slices.Values(b), byKey), same)
}

// directivesIn returns the handlers of the shortlink directives of a Caddyfile, wherever they stand in it.
func directivesIn(path string, text []byte) []*Handler {
	blocks, err := caddyfile.Parse(path, text)
	if err != nil {
		return nil
	}
	var handlers []*Handler
	for _, block := range blocks {
		for _, segment := range block.Segments {
			for i := range segment {
				if !beginsDirective(segment, i) {
					continue
				}
				h := new(Handler)
				if h.UnmarshalCaddyfile(caddyfile.NewDispenser(withoutMatcher(segment[i:]))) == nil {
					handlers = append(handlers, h)
				}
			}
		}
	}
	return handlers
}

func beginsDirective(tokens []caddyfile.Token, i int) bool {
	return tokens[i].Text == "shortlink" && (i == 0 || tokens[i-1].Line != tokens[i].Line || tokens[i-1].File != tokens[i].File)
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

// placed is the position of an inline rule: where it stands, if that is known, or else the handler.
func placed(rule resolver.Rule, handler string) resolver.Position {
	if rule.Position != (resolver.Position{}) {
		return rule.Position
	}
	return resolver.Position{Source: handler}
}
