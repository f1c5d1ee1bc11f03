package live

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/pace"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

const (
	// warnEdge: something fails when a window begins or ends.
	warnEdge lint.Kind = "failing when a window begins or ends"
	// noteOver: all windows of a rule are over.
	noteOver lint.Kind = "rule that is over"
	// noteLater: the next window of a rule has not begun.
	noteLater lint.Kind = "rule that has not begun"
)

// Edges are looked at beforehand until one of these is reached.
const (
	mostEdges   = 10_000
	longestLook = 10 * time.Second
)

// ahead is what is known of the edges to come of rules as they are written, nil before they have
// been looked at.
type ahead struct{ atomic.Pointer[[]edgeWarning] }

// edgeWarning is a warning of what an edge brings.
type edgeWarning struct {
	at schedule.Time
	lint.Warning
}

// edgeWarnings returns the warnings of edges to come, as far as those have been looked at.
func (l *Loaded) edgeWarnings() (warnings []lint.Warning) {
	if found := l.ahead.Load(); found != nil {
		for _, w := range *found {
			if w.at > l.At() {
				warnings = append(warnings, w.Warning)
			}
		}
	}
	return warnings
}

// foresee finds out what fails at edges to come: expectations, and keys that are answered with an
// error. goOn says before each edge whether somebody still wants to know.
func (c *Config) foresee(l *Loaded, goOn func() bool) {
	found := []edgeWarning{}
	before, fails := l.Ruleset, c.check(l.Ruleset, l.expected) != nil
	n, end := 0, time.Now().Add(longestLook)
	for next, err := range l.Ahead() {
		warn := func(of resolver.Position, key, message string) {
			message = fmt.Sprintf("at %s: %s", next.At(), message)
			found = append(found, edgeWarning{next.At(), lint.Warning{
				Kind: warnEdge, Position: l.place(of, key), Key: key, Message: message,
			}})
		}
		if n == mostEdges || time.Now().After(end) {
			warn(resolver.Position{}, "", fmt.Sprintf("windows begin or end, and what fails from here on "+
				"is not known: only the first %d such times were looked at", n))
			break
		}
		if n++; !goOn() {
			return
		}
		if err != nil {
			warn(resolver.Position{}, "", "windows that begin cannot serve: "+err.Error())
		}
		_, first := lint.Broken(next.Ruleset, []*resolver.Ruleset{before}, namedKeys)
		for _, err := range first {
			warn(err.Position, err.Key, err.Message)
		}
		failed := c.check(next.Ruleset, l.expected)
		if failed != nil && !fails {
			warn(resolver.Position{}, "", failed.Error())
		}
		before, fails = next.Ruleset, failed != nil
	}
	l.ahead.Store(&found)
}

// place returns where the rule of a key stands in a source, with its line if that is known.
func (l *Loaded) place(at resolver.Position, key string) resolver.Position {
	for source := range l.Sources() {
		if rule, is := l.RuleOf(source, key); is && rule.Position.Source == at.Source {
			return rule.Position
		}
	}
	return at
}

// lookAhead finds out what fails at edges to come, and logs what was not known before: that is the
// last look that came to its end, nil for none.
func (rs *Ruleset) lookAhead(before *ahead, serving *Loaded) {
	pause := pace.New().Pause
	rs.foresee(serving, func() bool {
		pause()
		return rs.Context.Err() == nil && rs.Serving().ahead == serving.ahead
	})
	if serving.ahead.Load() == nil {
		return // something else serves
	}
	var known []edgeWarning
	if before != nil {
		known = *before.Load()
	}
	isKnown := func(w lint.Warning) bool {
		return slices.ContainsFunc(known, func(k edgeWarning) bool { return k.String() == w.String() })
	}
	warnings := slices.DeleteFunc(serving.edgeWarnings(), isKnown)
	if before == nil { // an edge tells of later ones
		warnings = append(rs.failingNow(serving), warnings...)
	}
	rs.warn(serving, warnings)
}

// WindowFindings returns what there is to say of the windows of rules that [Ruleset.CompileRules]
// has compiled: what fails at edges to come, and which rules are over or have not begun.
func (rs *Ruleset) WindowFindings() (findings []lint.Finding) {
	l := rs.compiled
	if l == nil || !l.HasWindows() {
		return nil
	}
	rs.foresee(l, func() bool { return true })
	for _, w := range l.edgeWarnings() {
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityWarning})
	}
	for key, rule := range l.Scheduled("") {
		windows := schedule.Split(rule)
		w := lint.Warning{Position: rule.Position, Key: key}
		i := slices.IndexFunc(windows, func(w schedule.Window) bool { return l.At() < w.Until })
		switch {
		case i < 0:
			w.Kind = noteOver
			w.Message = fmt.Sprintf("the rule ended at %s; remove it", windows[len(windows)-1].Until)
		case l.At() < windows[i].Since:
			w.Kind, w.Message = noteLater, fmt.Sprintf("the rule begins at %s", windows[i].Since)
		default:
			continue
		}
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityNote})
	}
	return findings
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

// failingNow returns the warning of expectations that have failed since an edge, if there are any.
func (c *Config) failingNow(l *Loaded) []lint.Warning {
	if !l.HasWindows() {
		return nil
	}
	err := c.check(l.Ruleset, l.expected)
	if err == nil {
		return nil
	}
	return []lint.Warning{{Kind: warnEdge,
		Message: "an expectation has failed since a window began or ended: " + err.Error()}}
}

// windowStatus returns what windows of what serves do next.
func (rs *Ruleset) windowStatus(serving *Loaded) (status WindowStatus) {
	if edge, ok := serving.NextEdge(); ok {
		status.NextEdge, status.LooksAhead = &edge, serving.ahead.Load() == nil
	}
	warnings := append(rs.failingNow(serving), serving.edgeWarnings()...)
	for _, w := range rs.located(serving.versions, warnings) {
		status.Warnings = append(status.Warnings, w.String())
	}
	return status
}
