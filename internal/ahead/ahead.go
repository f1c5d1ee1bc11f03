package ahead

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

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

// Edges are looked at until one of these is reached.
const (
	MostEdges   = 10_000
	LongestLook = 10 * time.Second
)

// namedKeys is how many keys that fail are named for each edge.
const namedKeys = 10

// Check returns why the expectations of a ruleset fail, or nil.
type Check func(*resolver.Ruleset) error

// Look is what is known of the edges to come of rules as they are written.
type Look struct {
	found atomic.Pointer[[]edgeWarning] // nil before they have been looked at
}

// edgeWarning is a warning of what an edge brings.
type edgeWarning struct {
	at schedule.Time
	lint.Warning
}

// IsDone reports whether the edges have been looked at.
func (l *Look) IsDone() bool { return l.found.Load() != nil }

// Warnings returns the warnings of edges that come after a time, as far as those have been looked
// at.
func (l *Look) Warnings(after schedule.Time) (warnings []lint.Warning) {
	if found := l.found.Load(); found != nil {
		for _, w := range *found {
			if w.at > after {
				warnings = append(warnings, w.Warning)
			}
		}
	}
	return warnings
}

// NewWarnings returns the warnings that a look before, nil for none, did not have.
func (l *Look) NewWarnings(before *Look, after schedule.Time) []lint.Warning {
	var known []edgeWarning
	if before != nil {
		known = *before.found.Load()
	}
	return slices.DeleteFunc(l.Warnings(after), func(w lint.Warning) bool {
		return slices.ContainsFunc(known, func(k edgeWarning) bool { return k.String() == w.String() })
	})
}

// At finds out what fails at edges to come: expectations, and keys that are answered with an error.
// goOn says before each edge whether somebody still wants to know.
func (l *Look) At(rules *schedule.Rules, check Check, goOn func() bool) {
	found := []edgeWarning{}
	before, fails := rules.Ruleset, check(rules.Ruleset) != nil
	n, end := 0, time.Now().Add(LongestLook)
	for next, err := range rules.Ahead() {
		warn := func(of resolver.Position, key, message string) {
			message = fmt.Sprintf("at %s: %s", next.At(), message)
			found = append(found, edgeWarning{next.At(), lint.Warning{
				Kind: warnEdge, Position: placeOf(rules, of, key), Key: key, Message: message,
			}})
		}
		if n == MostEdges || time.Now().After(end) {
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
		failed := check(next.Ruleset)
		if failed != nil && !fails {
			warn(resolver.Position{}, "", failed.Error())
		}
		before, fails = next.Ruleset, failed != nil
	}
	l.found.Store(&found)
}

// placeOf returns where the rule of a key stands in a source, with its line if that is known.
func placeOf(rules *schedule.Rules, at resolver.Position, key string) resolver.Position {
	for source := range rules.Sources() {
		if rule, is := rules.RuleOf(source, key); is && rule.Position.Source == at.Source {
			return rule.Position
		}
	}
	return at
}

// FailingNow returns the warning of expectations that have failed since an edge, if there are any.
func FailingNow(rules *schedule.Rules, check Check) []lint.Warning {
	if !rules.HasWindows() {
		return nil
	}
	err := check(rules.Ruleset)
	if err == nil {
		return nil
	}
	return []lint.Warning{{Kind: warnEdge,
		Message: "an expectation has failed since a window began or ended: " + err.Error()}}
}

// HasHeld reports whether the expectations held before an edge that has been.
func HasHeld(rules *schedule.Rules, check Check) bool {
	n, end := 0, time.Now().Add(LongestLook)
	for before := range rules.Behind() {
		if check(before.Ruleset) == nil {
			return true
		}
		if n++; n == MostEdges || time.Now().After(end) {
			break
		}
	}
	return false
}

// Findings returns what there is to say of windows: what fails at edges to come, and which rules
// are over or have not begun.
func Findings(rules *schedule.Rules, check Check) (findings []lint.Finding) {
	if !rules.HasWindows() {
		return nil
	}
	var look Look
	look.At(rules, check, func() bool { return true })
	for _, w := range look.Warnings(rules.At()) {
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityWarning})
	}
	for key, rule := range rules.Scheduled("") {
		windows := schedule.Split(rule)
		w := lint.Warning{Position: rule.Position, Key: key}
		i := slices.IndexFunc(windows, func(w schedule.Window) bool { return rules.At() < w.Until })
		switch {
		case i < 0:
			w.Kind = noteOver
			w.Message = fmt.Sprintf("the rule ended at %s; remove it", windows[len(windows)-1].Until)
		case rules.At() < windows[i].Since:
			w.Kind, w.Message = noteLater, fmt.Sprintf("the rule begins at %s", windows[i].Since)
		default:
			continue
		}
		findings = append(findings, lint.Finding{Warning: w, Severity: lint.SeverityNote})
	}
	return findings
}
