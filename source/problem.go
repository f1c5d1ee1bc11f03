package source

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Problem is something to be put right in a Caddyfile, or in its JSON.
type Problem struct {
	At      resolver.Position // if it is known
	Kind    lint.Kind         // of a rule that is bad; empty for everything else
	Key     string            // of the rule that it is about, if it is about one
	Message string
	Placed  bool // the message tells the place, as that of a source may
}

// Error tells the problem with its place.
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
