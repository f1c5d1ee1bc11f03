package show

import (
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Suggestion is a rule whose key was perhaps meant.
type Suggestion struct{ resolver.Rule }

// mostSuggested is how many keys are named that were perhaps meant.
const mostSuggested = 3

// MarshalJSON returns what names the rule.
func (s Suggestion) MarshalJSON() ([]byte, error) {
	return printable.JSON(struct {
		Key      string `json:"key"`
		Position string `json:"position,omitempty"`
	}{s.Key, s.Position.String()})
}

// unmatchedPath returns the path that no key matches at the end of a walk, "" where one does.
func unmatchedPath(e *resolver.Explanation, req resolver.Request) string {
	if len(e.Walk) == 0 {
		return req.Target.Pathname
	}
	last := e.Walk[len(e.Walk)-1].Value
	if e.Outcome == resolver.Redirect && isDestinationOfSite(last) {
		return pathOf(last)
	}
	return ""
}
