package show

import (
	"slices"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// Status is the status of a handler.
type Status struct {
	// Site has the addresses of a handler whose name others have, too.
	Site     string         `json:"site,omitempty"`
	Rules    int            `json:"rules"`
	Digest   string         `json:"digest"`
	Sources  []SourceStatus `json:"sources"`
	LastLoad LoadStatus     `json:"last_load"`
	// Loaded is when the rules that serve were loaded: LastLoad may have been rejected.
	Loaded time.Time `json:"-"`
	// BrokenRules is how many rules are answered with an error; Broken has the first 1000 of them.
	BrokenRules int          `json:"broken_rules"`
	Broken      []BrokenRule `json:"broken,omitempty"`
	WindowStatus
	// History says since when changes of the rules cannot be stored; nil if they can.
	History *history.Outage `json:"history,omitempty"`
}

// BrokenRule is a rule that is answered with an error.
type BrokenRule struct {
	Kind     lint.Kind `json:"kind"`
	Position string    `json:"position,omitempty"`
	Key      string    `json:"key"`
	Reason   string    `json:"reason"`
}

// SourceStatus is the status of a source.
type SourceStatus struct {
	Source   string        `json:"source"`
	Writable bool          `json:"writable"`
	Outage   *OutageStatus `json:"outage,omitempty"`
}

// OutageStatus says since when and why a source cannot be read, and how old the rules are that
// serve.
type OutageStatus struct {
	Since      time.Time `json:"since"`
	Error      string    `json:"error"`
	RulesOf    time.Time `json:"rules_of,omitzero"`
	StoredCopy bool      `json:"stored_copy,omitempty"`
	// WithoutRules tells that the source has not been read since the handler started without it.
	WithoutRules bool `json:"without_rules,omitempty"`
}

// LoadStatus is the result of the last load of rules: "loaded", or "rejected" with the reason.
type LoadStatus struct {
	Time         time.Time  `json:"time"`
	Result       string     `json:"result"`
	Error        string     `json:"error,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
}

// WindowStatus is what windows do next.
type WindowStatus struct {
	// NextEdge is when the next window begins or ends.
	NextEdge *time.Time `json:"next_edge,omitempty"`
	// LooksAhead tells that what fails then or later is still being found out.
	LooksAhead bool `json:"looks_ahead,omitempty"`
	// Warnings are what fails then or later, and an expectation that has failed since an edge.
	Warnings []string `json:"edge_warnings,omitempty"`
}

// StatusOfRunning returns the status of a handler, with its site if others share the name.
func StatusOfRunning(h *live.RunningRuleset) Status {
	status := StatusOf(h.Ruleset)
	if h.Shares {
		status.Site = h.Site.String()
	}
	return status
}

// StatusOf returns the status of a handler.
func StatusOf(rs *live.Ruleset) Status {
	serving, last := rs.Serving(), rs.LastLoad()
	broken, first := rs.BrokenIn(serving)
	status := Status{
		Rules:    serving.Ruleset.Len(),
		Digest:   serving.Digest,
		Sources:  []SourceStatus{},
		LastLoad: LoadStatus{Time: last.Time, Result: "loaded"},
		Loaded:   last.Loaded,

		BrokenRules: broken, WindowStatus: statusOfWindows(rs, serving), History: rs.Past().Outage(),
	}
	for _, err := range first {
		status.Broken = append(status.Broken,
			BrokenRule{lint.FailureKind(err.Kind), err.Position.String(), err.Key, err.Message})
	}
	for i, from := range rs.Sources {
		status.Sources = append(status.Sources, statusOfSource(from, rs))
		if outage := status.Sources[i].Outage; outage != nil {
			outage.WithoutRules = serving.IsWithout(i)
		}
	}
	if last.Err != nil {
		status.LastLoad.Result, status.LastLoad.Error, status.LastLoad.FailingSince = "rejected",
			last.Err.Error(), &last.FailingSince
	}
	return status
}

func statusOfSource(from source.Source, rs *live.Ruleset) SourceStatus {
	writable, ok := from.(source.Writable)
	info := SourceStatus{Source: from.String(), Writable: ok && writable.Writable() == nil}
	if outage := source.OutageOf(from); outage != nil {
		info.Outage = &OutageStatus{
			Since: outage.Since, Error: outage.Err.Error(), RulesOf: rs.TimeOfRules(from),
			StoredCopy: outage.StoredCopy,
		}
	}
	return info
}

func statusOfWindows(rs *live.Ruleset, serving *live.Loaded) (status WindowStatus) {
	if edge, ok := serving.NextEdge(); ok {
		status.NextEdge, status.LooksAhead = &edge, serving.LooksAhead()
	}
	for _, w := range rs.EdgeWarnings(serving) {
		status.Warnings = append(status.Warnings, w.String())
	}
	return status
}

// IsAtFault reports whether something is wrong with a handler that somebody has to mend.
func (s Status) IsAtFault() bool {
	isOut := func(from SourceStatus) bool { return from.Outage != nil }
	return s.LastLoad.Error != "" || s.BrokenRules > 0 || slices.ContainsFunc(s.Sources, isOut)
}
