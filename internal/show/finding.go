package show

import (
	"fmt"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Finding is a finding as JSON.
type Finding struct {
	Severity    lint.Severity `json:"severity"`
	Kind        lint.Kind     `json:"kind"`
	Position    string        `json:"position,omitempty"`
	Key         string        `json:"key,omitempty"`
	Message     string        `json:"message"`
	Cycle       []string      `json:"cycle,omitempty"`
	Destination string        `json:"destination,omitempty"`
	URLs        []string      `json:"urls,omitempty"`

	// At is Position, to sort by.
	At resolver.Position `json:"-"`
}

// FindingOf returns a finding for JSON.
func FindingOf(f lint.Finding) Finding {
	return Finding{
		Severity: f.Severity, Kind: f.Kind, Position: f.Position.String(), Key: f.Key, Message: f.Message,
		Cycle: f.Cycle, Destination: f.Destination, URLs: f.URLs, At: f.Position,
	}
}

// Text returns the finding as a line for people.
func (f Finding) Text() string {
	var b strings.Builder
	if f.Position != "" {
		b.WriteString(printable.Text(f.Position) + ": ")
	}
	if f.Key != "" {
		fmt.Fprintf(&b, "key %q: ", f.Key)
	}
	return b.String() + strings.ReplaceAll(f.Message, "\n", "\n  ")
}
