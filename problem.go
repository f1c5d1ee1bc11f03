package shortlink

import (
	"fmt"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// problem is something to be put right in a Caddyfile, or in its JSON.
type problem struct {
	at      resolver.Position    // if it is known
	kind    resolver.WarningKind // of a rule that is bad; empty for everything else
	key     string               // of the rule that it is about, if it is about one
	message string
	placed  bool // the message tells the place, as that of a source may
}

// Error tells the problem with its place.
func (p problem) Error() string {
	text := p.message
	if p.key != "" {
		text = fmt.Sprintf("key %q: %s", p.key, text)
	}
	if at := p.at.String(); at != "" && !p.placed {
		text = at + ": " + text
	}
	return text
}
