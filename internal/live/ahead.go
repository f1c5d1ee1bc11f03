package live

import (
	"fmt"
	"sync"
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

// mostEdges is how many edges are looked at beforehand.
const mostEdges = 10_000

// foresight is what is known of the edges to come. It is found out once, when somebody asks: rules
// as they are written stay the same at an edge.
type foresight struct {
	once     sync.Once
	warnings []edgeWarning
}

// edgeWarning is a warning of what an edge brings.
type edgeWarning struct {
	at schedule.Time
	lint.Warning
}

// foresee returns what fails at edges to come: expectations, and keys that are answered with an
// error.
func (c *Config) foresee(l *Loaded) (warnings []lint.Warning) {
	if l.table == nil {
		return nil
	}
	l.ahead.once.Do(func() { l.ahead.warnings = c.lookAhead(l) })
	for _, w := range l.ahead.warnings {
		if w.at > l.at {
			warnings = append(warnings, w.Warning)
		}
	}
	return warnings
}

// lookAhead derives the ruleset of each edge from that of the one before.
func (c *Config) lookAhead(l *Loaded) (warnings []edgeWarning) {
	next := &candidate{Loaded: new(Loaded)}
	*next.Loaded = *l
	warn := func(at resolver.Position, key, message string) {
		at = l.place(at, key)
		when := next.at.String()
		w := lint.Warning{Kind: warnEdge, Position: at, Key: key, Message: "at " + when + ": " + message}
		warnings = append(warnings, edgeWarning{next.at, w})
	}
	fails, pause := c.check(next.Ruleset, next.expected) != nil, pace.New().Pause
	for n := 0; next.until != schedule.End; n++ {
		if n == mostEdges {
			warn(resolver.Position{}, "", fmt.Sprintf("windows begin or end at more than %d times; what "+
				"happens from here on is not looked at", mostEdges))
			break
		}
		pause()
		before := []*resolver.Ruleset{next.Ruleset}
		if err := next.turn(next.until); err != nil {
			warn(resolver.Position{}, "", "windows that begin cannot serve: "+err.Error())
		}
		_, first := lint.Broken(next.Ruleset, before, namedKeys)
		for _, err := range first {
			warn(err.Position, err.Key, err.Message)
		}
		failed := c.check(next.Ruleset, next.expected)
		if failed != nil && !fails {
			warn(resolver.Position{}, "", failed.Error())
		}
		fails = failed != nil
		if next.Ruleset.IsWorn() {
			if anew, err := next.Ruleset.Recompile(); err == nil {
				next.Ruleset = anew
			}
		}
	}
	return warnings
}

// place returns where the rule of a key stands in a source, with its line if that is known.
func (l *Loaded) place(at resolver.Position, key string) resolver.Position {
	for source := range len(l.versions) + 1 {
		if rule, is := l.ruleOf(source, key); is && rule.Position.Source == at.Source {
			return rule.Position
		}
	}
	return at
}

// WindowFindings returns what there is to say of the windows of rules that [Ruleset.CompileRules]
// has compiled: what fails at edges to come, and which rules are over or have not begun.
func (rs *Ruleset) WindowFindings() (findings []lint.Finding) {
	l := rs.compiled
	if l == nil || l.table == nil {
		return nil
	}
	for _, w := range rs.foresee(l) {
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityWarning})
	}
	for _, written := range l.table.All() {
		w := lint.Warning{Kind: noteLater, Position: written.Position, Key: written.Key}
		switch _, next, isActive := schedule.Active(written, l.at); {
		case isActive:
			continue
		case next == schedule.End:
			windows := schedule.Split(written)
			w.Kind = noteOver
			w.Message = fmt.Sprintf("the rule is over since %s; remove it", windows[len(windows)-1].Until)
		default:
			w.Message = fmt.Sprintf("the rule begins at %s", next)
		}
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityNote})
	}
	return findings
}

// tellAhead logs what fails at edges to come, unless that is known of the rules before.
func (rs *Ruleset) tellAhead(before *foresight, now *Loaded) {
	known := map[string]bool{}
	before.once.Do(func() {}) // or waits until it is found out
	for _, w := range before.warnings {
		known[w.String()] = true
	}
	var fresh []lint.Warning
	for _, w := range rs.foresee(now) {
		if !known[w.String()] {
			fresh = append(fresh, w)
		}
	}
	rs.warn(now, fresh)
}

// WindowStatus is what windows do next.
type WindowStatus struct {
	// NextEdge is when the next window begins or ends.
	NextEdge *time.Time `json:"next_edge,omitempty"`
	// Warnings are what fails then or later.
	Warnings []string `json:"edge_warnings,omitempty"`
}

// windowStatus returns what windows of what serves do next.
func (rs *Ruleset) windowStatus(serving *Loaded) (status WindowStatus) {
	if edge, ok := serving.NextEdge(); ok {
		status.NextEdge = &edge
	}
	for _, w := range rs.located(serving.versions, rs.foresee(serving)) {
		status.Warnings = append(status.Warnings, w.String())
	}
	return status
}
