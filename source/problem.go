package source

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Problem is an error in a Caddyfile, in its JSON, or in a file that it names: of rules, or of
// expectations.
type Problem struct {
	At      resolver.Position // if it is known
	Kind    lint.Kind         // of an invalid rule; empty for everything else
	Key     string            // of the rule, if it is about one
	Message string
	Placed  bool // the message has the place, as a source's may
}

// Error returns the message with its place.
func (p Problem) Error() string {
	text := p.Message
	if p.Key != "" {
		text = fmt.Sprintf("key %q: %s", p.Key, text)
	}
	if at := p.At.String(); at != "" && !p.Placed {
		text = at + ": " + text
	}
	return text
}
