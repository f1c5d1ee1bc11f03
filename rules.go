package shortlink

import (
	"bytes"
	"encoding/json"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// Rules are rules that stand in the configuration itself. In JSON they are an object
// from key to value, in the form that [rulefile.ReadJSON] describes.
type Rules []resolver.Rule

// MarshalJSON returns the rules as an object.
func (rules Rules) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := rulefile.WriteJSON(&b, rules)
	return b.Bytes(), err
}

// UnmarshalJSON reads the rules from an object. The error lists all that is wrong with it.
func (rules *Rules) UnmarshalJSON(b []byte) error {
	*rules = nil
	return rulefile.ReadJSON(bytes.NewReader(b), "rules", func(rule resolver.Rule) {
		*rules = append(*rules, rule)
	})
}

// from returns the rules with source for their position: the lines of a configuration
// that has been adapted and parsed by Caddy mean nothing to its author.
func (rules Rules) from(source string) []resolver.Rule {
	placed := make([]resolver.Rule, len(rules))
	for i, rule := range rules {
		rule.Position = resolver.Position{Source: source}
		placed[i] = rule
	}
	return placed
}

// Interface guards
var (
	_ json.Marshaler   = (Rules)(nil)
	_ json.Unmarshaler = (*Rules)(nil)
)
