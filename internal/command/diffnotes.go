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

// changedNotes returns the notes that differ, by key.
func changedNotes(before, after *resolver.Ruleset) (notes []show.Change) {
	for now := range after.Rules() {
		number, known := before.NumberOf(now.Key)
		if !known {
			continue
		}
		if was, serves := before.Numbered(number); serves && was.Note != now.Note {
			notes = append(notes, show.NoteChangeOf(was.Note, now))
		}
	}
	slices.SortFunc(notes, func(a, b show.Change) int { return cmp.Compare(a.Key, b.Key) })
	return notes
}

// writeNotes writes the notes among changes as text.
func writeNotes(w *bufio.Writer, changes []show.Change, c colours) {
	notes := slices.DeleteFunc(slices.Clone(changes), func(c show.Change) bool { return !c.IsNote() })
	if len(notes) == 0 {
		return
	}
	c.heading(w, yellow, fmt.Sprintf("%d with another note, which no client sees", len(notes)))
	for _, n := range notes {
		fmt.Fprintf(w, "  %s%s: was %s, now %s\n", n.Key, n.Place(), quotedNote(*n.Was),
			quotedNote(*n.Now))
	}
}

func quotedNote(note string) string {
	if note == "" {
		return "none"
	}
	return strconv.Quote(note)
}
