package schedule

import (
	"encoding/json"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Window is what a key leads to for a time: while Since <= now < Until.
type Window struct {
	Since, Until Time
	Rule         resolver.Rule
}

// Always returns the window of a rule without windows.
func Always(rule resolver.Rule) Window { return Window{Begin, End, rule} }

// IsAlways reports whether a window has no limit.
func (w Window) IsAlways() bool { return w.Since == Begin && w.Until == End }

func (w Window) isAt(at Time) bool { return w.Since <= at && at < w.Until }

// Value is the value of a key in JSON, where it is an object.
type Value struct {
	To       string `json:"to"`
	Status   int    `json:"status,omitempty"`
	Exact    bool   `json:"exact,omitempty"`
	Unlisted bool   `json:"unlisted,omitempty"`
	Query    string `json:"query,omitempty"`
	Note     string `json:"note,omitempty"`
	Since    string `json:"since,omitempty"`
	Until    string `json:"until,omitempty"`
}

// ValueOf returns the value of a window.
func ValueOf(w Window) Value {
	return Value{
		To: w.Rule.Value, Status: w.Rule.Status, Exact: w.Rule.Exact, Unlisted: w.Rule.Unlisted,
		Query: w.Rule.Query.String(), Note: w.Rule.Note,
		Since: w.Since.String(), Until: w.Until.String(),
	}
}

// window returns the window of a value that ValueOf has made.
func (v Value) window() Window {
	w := Window{Begin, End, resolver.Rule{
		Value: v.To, Status: v.Status, Exact: v.Exact, Unlisted: v.Unlisted, Note: v.Note,
	}}
	if v.Query != "" {
		w.Rule.Query, _ = resolver.ParseQueryMode(v.Query)
	}
	if v.Since != "" {
		w.Since, _ = ParseTime(v.Since)
	}
	if v.Until != "" {
		w.Until, _ = ParseTime(v.Until)
	}
	return w
}

// Fault is something wrong with one of several windows.
type Fault struct {
	Window  int // its index
	Message string
}

// Check returns everything that is wrong with the windows of a key, which are in the order of time.
func Check(windows []Window) (faults []Fault) {
	for i, w := range windows {
		if w.Until <= w.Since {
			faults = append(faults, Fault{i, fmt.Sprintf("until is %s, which is not after since, %s; "+
				"write a later until, or an earlier since", w.Until, w.Since)})
			continue
		}
		if i > 0 && w.Since < windows[i-1].Until {
			faults = append(faults, Fault{i, overlap(windows[i-1], w)})
		}
	}
	return faults
}

// overlap says how a window begins too early, and what to write instead.
func overlap(before, w Window) string {
	switch {
	case before.Until == End && w.Since == Begin:
		return "it is there always, and so is the rule in front of it; write until into that one, and " +
			"the same time as since here"
	case before.Until == End:
		return fmt.Sprintf("it begins at %s, and the rule in front of it has no end; write until %[1]s "+
			"into that one", w.Since)
	case w.Since == Begin:
		return fmt.Sprintf("it has no beginning, and the rule in front of it lasts until %s; write "+
			"since %[1]s here", before.Until)
	case w.Since < before.Since:
		return fmt.Sprintf("it begins at %s, and the rule in front of it only at %s; write the rules "+
			"of a key in the order of time", w.Since, before.Since)
	}
	return fmt.Sprintf("it begins at %s, and the rule in front of it lasts until %s; let one begin "+
		"when the other ends", w.Since, before.Until)
}

// Join returns the rule of a key as it is written: a plain one for a single window without limits,
// or one that has its values in [resolver.Rule.Windows]. The windows are good.
func Join(key string, at resolver.Position, windows []Window) resolver.Rule {
	if len(windows) == 1 && windows[0].IsAlways() {
		rule := windows[0].Rule
		rule.Key, rule.Position = key, at
		return rule
	}
	return resolver.Rule{Key: key, Position: at, Windows: textOf(windows)}
}

// textOf returns windows as the value of a key in JSON.
func textOf(windows []Window) string {
	values := make([]Value, len(windows))
	for i, w := range windows {
		values[i] = ValueOf(w)
	}
	var value any = values
	if len(values) == 1 {
		value = values[0]
	}
	text, err := printable.JSON(value)
	if err != nil {
		panic(err) // strings, numbers and booleans always have a JSON form
	}
	return string(text)
}

// Split returns the windows of a rule as it is written, in the order of time, with its key and its
// position. A plain rule is one window without limits.
func Split(rule resolver.Rule) []Window { return AppendSplit(nil, rule) }

// AppendSplit is [Split] that appends the windows.
func AppendSplit(windows []Window, rule resolver.Rule) []Window {
	if rule.Windows == "" {
		return append(windows, Always(rule))
	}
	var values []Value
	text := rule.Windows
	if text[0] == '{' {
		text = "[" + text + "]"
	}
	_ = json.Unmarshal([]byte(text), &values) // textOf has made it
	for _, v := range values {
		w := v.window()
		w.Rule.Key, w.Rule.Position = rule.Key, rule.Position
		windows = append(windows, w)
	}
	return windows
}

// Each returns a rule as it is written with a change made to what each window leads to.
func Each(rule resolver.Rule, change func(*resolver.Rule)) resolver.Rule {
	windows := Split(rule)
	for i := range windows {
		change(&windows[i].Rule)
	}
	return Join(rule.Key, rule.Position, windows)
}

// activeOf returns what serves for the key of a rule with windows at a time, nil for nothing.
func activeOf(rule resolver.Rule, at Time) *resolver.Rule {
	for _, w := range Split(rule) {
		if w.isAt(at) {
			return &w.Rule
		}
	}
	return nil
}

// stored returns a rule with texts of its own, and without a line if that is to be forgotten.
func stored(rule resolver.Rule, noLines bool) *resolver.Rule {
	rule = rule.Clone()
	if noLines {
		rule.Position = resolver.Position{Source: rule.Position.Source}
	}
	return &rule
}

// edgesOf calls do with the times at which a rule with windows changes, in their order.
func edgesOf(windows []Window, do func(Time)) {
	last := Begin
	for _, w := range windows {
		for _, t := range [...]Time{w.Since, w.Until} {
			if t != Begin && t != End && t != last {
				do(t)
			}
			last = t
		}
	}
}
