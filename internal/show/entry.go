package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// WriteEntry writes a line for a change, and one for each of its keys.
func WriteEntry(w io.Writer, e *history.Entry) {
	fmt.Fprintln(w, changeText(&e.Change))
	for _, k := range e.Keys {
		fmt.Fprintf(w, "  %s: was %s, now %s\n", k.Key, valueText(k.Before), valueText(k.After))
	}
}

// shownDigits is how many digits of a digest are shown.
const shownDigits = 12

// changeText says in a line when rules became which others, and by whom.
func changeText(c *history.Change) string {
	text := fmt.Sprintf("%s  %.*s -> %.*s %s: %s", c.Time.Format(time.RFC3339), shownDigits, c.Old,
		shownDigits, c.New, c.By(), Counts(c))
	if len(c.First) == 1 && c.Total() == 1 {
		text += " " + c.First[0].Key
	}
	if c.Missing != "" {
		text += "; its content is missing: " + c.Missing
	}
	return text
}

// Counts says how many keys a change has added, removed and changed.
func Counts(c *history.Change) string {
	var what []string
	add := func(n int, kind resolver.ChangeKind) {
		if n > 0 {
			what = append(what, fmt.Sprint(n, " ", kind))
		}
	}
	add(c.Added, resolver.ChangeAdded)
	add(c.Removed, resolver.ChangeRemoved)
	add(c.Changed, resolver.ChangeEdited)
	return strings.Join(what, ", ")
}

// valueText returns a rule in JSON as text.
func valueText(rule json.RawMessage) string {
	var text string
	switch value := history.Value(rule); {
	case value == "":
		return "no rule"
	case json.Unmarshal(rule, &text) == nil:
		return text
	default:
		return value
	}
}
