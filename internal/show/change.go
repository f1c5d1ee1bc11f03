package show

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// ChangeLine says in words what changes for requests: for a key, or for all paths below it.
type ChangeLine struct {
	Requests string `json:"requests"` // a key, perhaps with [resolver.Below] and a query
	Before   string `json:"before"`   // what clients get
	After    string `json:"after"`
}

// OtherLinks says how many other links an edit changes; hasMore says that these are not all.
func OtherLinks(n int, hasMore bool) string {
	if hasMore {
		return "more than " + printable.Count(n, "other link")
	}
	return printable.Count(n, "other link")
}

// LinesOf returns the lines of changes.
func LinesOf(changes ...resolver.Change) (lines []ChangeLine) {
	for _, c := range changes {
		lines = append(lines, ChangeOf(c).Lines()...)
	}
	return lines
}

// Lines returns the lines of a change: for the key itself, and for what is below it if that
// differs.
func (c Change) Lines() (lines []ChangeLine) {
	switch c.Kind {
	case ChangeNote:
		return []ChangeLine{{c.Key, noteText(c.Was), noteText(c.Now)}}
	case ChangeWindows:
		return []ChangeLine{{c.Key, valueText(c.Was), valueText(c.Now)}}
	}
	before, after := c.Before, c.After
	keyChanges, belowChanges := before.Key != after.Key, before.Below != after.Below
	if keyChanges || !belowChanges {
		lines = append(lines, ChangeLine{c.Key + c.Query, before.Key.text(), after.Key.text()})
	}
	if belowChanges && (!keyChanges || !before.hasOneKind() || !after.hasOneKind()) {
		lines = append(lines, ChangeLine{c.Key + resolver.Below + c.Query, before.Below.text(),
			after.Below.text()})
	}
	return lines
}

// Change is a change as JSON: for clients, or of a note, which no client sees, or of windows, which
// clients see at another time.
type Change struct {
	Kind     string `json:"kind"`
	Key      string `json:"key"`
	Position string `json:"position,omitempty"`
	// Query stands for the query of the requests, if only requests with one are affected.
	Query string `json:"query,omitempty"`
	// Before and After are nil for a note and for windows.
	Before *KeyAnswers `json:"before,omitempty"`
	After  *KeyAnswers `json:"after,omitempty"`
	// Was and Now are the note, or a rule's value in JSON, nil for none and for a change for clients.
	Was json.RawMessage `json:"was,omitempty"`
	Now json.RawMessage `json:"now,omitempty"`
}

// The kinds of changes that are none for clients now.
const (
	ChangeNote    = "note"
	ChangeWindows = "windows"
)

// IsForClients reports whether clients see a change now.
func (c Change) IsForClients() bool { return c.Kind != ChangeNote && c.Kind != ChangeWindows }

// KeyAnswers are the answers for a key, for the key with a slash, and for anything else below
// it.
type KeyAnswers struct {
	Key   Answer `json:"key"`
	Slash Answer `json:"slash"`
	Below Answer `json:"below"`
}

// Answer is an answer as JSON; a destination that is a path is on the request's origin.
type Answer struct {
	Outcome     string `json:"outcome"`
	Destination string `json:"destination,omitempty"`
	Status      int    `json:"status,omitempty"`
	Error       string `json:"error,omitempty"`
}

// Place returns the position of the rule as it follows a key.
func (c Change) Place() string { return InBrackets(resolver.Position{Source: c.Position}) }

// ChangeOf returns a change for JSON.
func ChangeOf(c resolver.Change) Change {
	return Change{Kind: string(c.Kind), Key: c.Rule.Key, Position: c.Rule.Position.String(),
		Query: c.Query, Before: keyAnswersOf(c.Before), After: keyAnswersOf(c.After)}
}

// NoteChangeOf returns, for JSON, the change of the note that a rule had.
func NoteChangeOf(was string, rule resolver.Rule) Change {
	return Change{Kind: ChangeNote, Key: rule.Key, Position: rule.Position.String(),
		Was: noteOf(was), Now: noteOf(rule.Note)}
}

// writtenChangeOf returns, for JSON, a change of a note or of windows.
func writtenChangeOf(c effects.Written) Change {
	rule := *cmp.Or(c.Now, c.Was)
	if c.Was != nil && c.Now != nil && c.Was.Windows == c.Now.Windows {
		return NoteChangeOf(c.Was.Note, rule)
	}
	return Change{Kind: ChangeWindows, Key: rule.Key, Position: rule.Position.String(),
		Was: json.RawMessage(past.Text(c.Was)), Now: json.RawMessage(past.Text(c.Now))}
}

func keyAnswersOf(k resolver.KeyResults) *KeyAnswers {
	return &KeyAnswers{answerOf(k.Key), answerOf(k.Slash), answerOf(k.Below)}
}

// hasOneKind reports whether what is below a key has an answer of the same kind as the key.
func (k *KeyAnswers) hasOneKind() bool {
	return k.Key.Outcome == k.Below.Outcome && k.Key.Status == k.Below.Status
}

func answerOf(a resolver.Result) Answer {
	out := Answer{Outcome: a.Outcome.String(), Destination: a.Destination, Status: a.Status}
	if a.Err != nil {
		out.Error = a.Err.Error()
	}
	return out
}

// text returns the answer in words.
func (a Answer) text() string {
	switch a.Outcome {
	case resolver.Redirect.String():
		return fmt.Sprintf("%d %s", a.Status, a.Destination)
	case resolver.Failed.String():
		return "error: " + a.Error
	}
	return a.Outcome
}

// noteOf returns a note as JSON.
func noteOf(note string) json.RawMessage {
	text, _ := printable.JSON(note) // a string always has a JSON form
	return json.RawMessage(text)
}

func noteText(note json.RawMessage) string {
	if string(note) == `""` {
		return "none"
	}
	return string(note)
}
