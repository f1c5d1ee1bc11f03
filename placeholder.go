package shortlink

import (
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
)

const (
	placeholderPrefix      = "http.shortlink."
	placeholderKey         = placeholderPrefix + "key"
	placeholderDestination = placeholderPrefix + "destination"
	placeholderHops        = placeholderPrefix + "hops"
	placeholderOutcome     = placeholderPrefix + "outcome"
)

// placeholder is the value of the placeholder called name, as a [caddy.ReplacerFunc].
func (a *answer) placeholder(name string) (any, bool) {
	if !strings.HasPrefix(name, placeholderPrefix) {
		return nil, false
	}
	switch name {
	case placeholderKey:
		return a.result.Key, true
	case placeholderDestination:
		return a.result.Destination, true
	case placeholderHops:
		return a.result.Hops, true
	case placeholderOutcome:
		return a.result.Outcome.String(), true
	}
	return nil, false
}

// passed are the placeholders of a request that passes: the same for all of them, so
// that passing allocates nothing.
func passed(name string) (any, bool) {
	a := answer{result: resolver.Result{Outcome: resolver.Pass}}
	return a.placeholder(name)
}

// publish makes values the placeholders of a request. A replacer asks its providers in the
// order in which they came, and before them what was set by name: where an
// earlier shortlink handler has published its own, these are set by name, to be the
// ones that count.
func publish(repl *caddy.Replacer, values caddy.ReplacerFunc) {
	if _, published := repl.Get(placeholderOutcome); !published {
		repl.Map(values)
		return
	}
	for _, name := range [...]string{placeholderKey, placeholderDestination, placeholderHops, placeholderOutcome} {
		value, _ := values(name)
		repl.Set(name, value)
	}
}
