package command

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// changedNote is a note that differs between the two rulesets, as JSON.
type changedNote struct {
	Kind     string `json:"kind"` // note
	Key      string `json:"key"`
	Position string `json:"position,omitempty"`
	Was      string `json:"was"`
	Now      string `json:"now"`
	place    string // the position after a key
}

// changedNotes returns the notes that differ, by key.
func changedNotes(before, after *resolver.Ruleset) (notes []changedNote) {
	for now := range after.Rules() {
		number, known := before.NumberOf(now.Key)
		if !known {
			continue
		}
		if was, serves := before.Numbered(number); serves && was.Note != now.Note {
			notes = append(notes, changedNote{"note", now.Key, now.Position.String(), was.Note,
				now.Note, show.InBrackets(now.Position)})
		}
	}
	slices.SortFunc(notes, func(a, b changedNote) int { return cmp.Compare(a.Key, b.Key) })
	return notes
}

// writeNotes writes the notes that differ as text.
func writeNotes(w *bufio.Writer, notes []changedNote, c colours) {
	if len(notes) == 0 {
		return
	}
	c.heading(w, yellow, fmt.Sprintf("%d with another note, which no client sees", len(notes)))
	for _, n := range notes {
		fmt.Fprintf(w, "  %s%s: was %s, now %s\n", n.Key, n.place, quotedNote(n.Was),
			quotedNote(n.Now))
	}
}

func quotedNote(note string) string {
	if note == "" {
		return "none"
	}
	return strconv.Quote(note)
}
