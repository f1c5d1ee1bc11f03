package rulefile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// heldWindow is a row with a window, and its line. All such rows of a key are one rule, which is
// passed on when the table has been read.
type heldWindow struct {
	schedule.Window
	lineSpan
}

// lineSpan is the offsets of a line in its file.
type lineSpan struct{ start, end int }

// pass passes on the rule of the row that was read last, or holds its window.
func (c *Rows) pass(add func(resolver.Rule)) {
	span := lineSpan{c.lines.start, c.lines.end}
	if c.rule.IsAlways() {
		c.spans = append(c.spans[:0], span)
		add(c.rule.Rule)
		return
	}
	held := heldWindow{c.rule, span}
	held.Rule = held.Rule.Clone()
	if c.held == nil {
		c.held = map[string][]heldWindow{}
	}
	c.held[held.Rule.Key] = append(c.held[held.Rule.Key], held)
}

// passWindows passes on the rules with windows, or reports what is wrong with them.
func (c *Rows) passWindows(add func(resolver.Rule)) {
	byPlace := func(a, b []heldWindow) int {
		return a[0].Rule.Position.ComparePlace(b[0].Rule.Position)
	}
	for _, held := range slices.SortedFunc(maps.Values(c.held), byPlace) {
		first := held[0].Rule
		c.spans = c.spans[:0]
		for _, w := range held {
			c.spans = append(c.spans, w.lineSpan)
		}
		slices.SortStableFunc(held, func(a, b heldWindow) int { return cmp.Compare(a.Since, b.Since) })
		windows := make([]schedule.Window, len(held))
		for i, w := range held {
			windows[i] = w.Window
		}
		faults := schedule.Check(windows)
		for _, fault := range faults {
			c.reports.wrong(held[fault.Window].Rule.Position, "the key %s has several rows: %s",
				quote(first.Key), fault.Message)
		}
		if faults == nil {
			add(schedule.Join(first.Key, first.Position, windows))
		}
	}
}
