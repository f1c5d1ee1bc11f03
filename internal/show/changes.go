package show

import (
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Changes are what an edit of many rules does, as JSON.
type Changes struct {
	Digest  string `json:"digest"` // of the rules with the edit
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
	// Changes are for clients, also of links that lead elsewhere by others, and then of notes and
	// windows. Unnamed is how many more there may be; if HasMore, there are more than these.
	Changes  []Change  `json:"changes"`
	Unnamed  int       `json:"unnamed,omitempty"`
	HasMore  bool      `json:"more,omitempty"`
	Findings []Finding `json:"findings"`
}

// ChangesOf returns effects as JSON.
func ChangesOf(f *effects.Effects) *Changes {
	c := &Changes{Digest: f.Digest, Added: f.Added, Removed: f.Removed, Changed: f.Changed,
		Changes: []Change{}, Unnamed: f.Unnamed + f.Count - len(f.Others), HasMore: f.HasMore,
		Findings: []Finding{}}
	for _, changes := range [...][]resolver.Change{f.Own, f.Others} {
		for _, change := range changes {
			c.Changes = append(c.Changes, ChangeOf(change))
		}
	}
	for _, written := range f.Written {
		c.Changes = append(c.Changes, writtenChangeOf(written))
	}
	for _, w := range f.Warnings {
		c.Findings = append(c.Findings,
			FindingOf(lint.Finding{Warning: w, Severity: lint.SeverityWarning}))
	}
	return c
}
