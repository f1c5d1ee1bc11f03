package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/metrics"
	"github.com/caddy-shortlink/shortlink/internal/place"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// RunningRuleset is a handler that runs, under a name that no other has.
type RunningRuleset struct {
	// UniqueName is the handler's own name if no other has it, else the name with a number.
	UniqueName string
	// Shares says that other handlers have the name, too, so that a change of the configuration can
	// give it to another one.
	Shares bool
	*Ruleset
}

// Status returns the handler's status, with its site if others share the name.
func (rs *RunningRuleset) Status() Status {
	status := rs.Ruleset.Status()
	if rs.Shares {
		status.Site = rs.Site.String()
	}
	return status
}

// Running are all handlers that run, sorted by name.
type Running []RunningRuleset

// AllRunning returns one handler for each live ruleset, sorted by name.
func AllRunning() Running {
	var found []*Ruleset
	running.Range(func(key, _ any) bool {
		if h := key.(*Ruleset).shared.handler.Load(); !slices.Contains(found, h) {
			found = append(found, h)
		}
		return true
	})
	return withUniqueNames(found)
}

// withUniqueNames sorts handlers by name, and gives each a unique name.
func withUniqueNames(found []*Ruleset) Running {
	slices.SortFunc(found, func(a, b *Ruleset) int {
		return strings.Compare(a.PublicName()+"\x00"+a.Identity, b.PublicName()+"\x00"+b.Identity)
	})
	public := make([]string, len(found))
	for i, e := range found {
		public[i] = e.PublicName()
	}
	var all Running
	names, count := UniqueNames(public)
	for i, e := range found {
		all = append(all, RunningRuleset{names[i], count[public[i]] > 1, e})
	}
	return all
}

// Named returns the handler with a unique name, or nil.
func (all Running) Named(name string) *RunningRuleset {
	for i := range all {
		if all[i].UniqueName == name {
			return &all[i]
		}
	}
	return nil
}

// Names returns the unique names.
func (all Running) Names() []string {
	names := []string{}
	for _, h := range all {
		names = append(names, h.UniqueName)
	}
	return names
}

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
}

func statusOfSource(from source.Source, t *metrics.Totals) SourceStatus {
	writable, ok := from.(source.Writable)
	info := SourceStatus{Source: from.String(), Writable: ok && writable.Writable() == nil}
	if outage := source.OutageOf(from); outage != nil {
		info.Outage = &OutageStatus{
			outage.Since, outage.Err.Error(), t.LastSuccess(from), outage.StoredCopy,
		}
	}
	return info
}

// LoadStatus is the result of the last load of rules: "loaded", or "rejected" with the reason.
type LoadStatus struct {
	Time         time.Time  `json:"time"`
	Result       string     `json:"result"`
	Error        string     `json:"error,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
}

// Status returns the status of the handler.
func (rs *Ruleset) Status() Status {
	serving, last := rs.Serving(), rs.shared.last.Load()
	status := Status{
		Rules:    serving.Ruleset.Len(),
		Digest:   serving.Digest,
		Sources:  []SourceStatus{},
		LastLoad: LoadStatus{Time: last.time, Result: "loaded"},
		Loaded:   last.loaded,

		BrokenRules: serving.broken.count, WindowStatus: rs.windowStatus(serving),
		History: rs.shared.totals.history.Outage(),
	}
	for _, err := range rs.brokenIn(serving).first {
		status.Broken = append(status.Broken,
			BrokenRule{lint.FailureKind(err.Kind), err.Position.String(), err.Key, err.Message})
	}
	for _, from := range rs.Sources {
		status.Sources = append(status.Sources, statusOfSource(from, rs.shared.totals.Totals))
	}
	if last.err != nil {
		status.LastLoad.Result, status.LastLoad.Error, status.LastLoad.FailingSince = "rejected",
			last.err.Error(), &last.failingSince
	}
	return status
}

// UniqueNames makes public names unique, and counts each public name. The first of several handlers
// keeps the name, and the others get a number.
func UniqueNames(public []string) (unique []string, count map[string]int) {
	count = map[string]int{}
	for _, name := range public {
		count[name]++
	}
	number := map[string]int{}
	for _, name := range public {
		one := name
		for number[name]++; number[name] > 1; number[name]++ {
			if one = fmt.Sprintf("%s-%d", name, number[name]); count[one] == 0 {
				break
			}
		}
		unique = append(unique, one)
	}
	return unique, count
}

// IsAtFault reports whether something is wrong with a handler that somebody has to mend.
func (s Status) IsAtFault() bool {
	isOut := func(from SourceStatus) bool { return from.Outage != nil }
	return s.LastLoad.Error != "" || s.BrokenRules > 0 || slices.ContainsFunc(s.Sources, isOut)
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

// windowStatus returns what windows of what serves do next.
func (c *Config) windowStatus(serving *Loaded) (status WindowStatus) {
	if edge, ok := serving.NextEdge(); ok {
		status.NextEdge, status.LooksAhead = &edge, !serving.ahead.IsDone()
	}
	warnings := append(ahead.FailingNow(&serving.Rules, c.checkOf(serving)),
		serving.ahead.Warnings(serving.At())...)
	for _, w := range place.OfWarnings(c.Context, c.Sources, serving.versions, warnings) {
		status.Warnings = append(status.Warnings, w.String())
	}
	return status
}
