package show

import (
	"fmt"

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

// LinesOf returns the lines of changes: for each key itself, and for what is below it if that
// differs.
func LinesOf(changes ...resolver.Change) (lines []ChangeLine) {
	for _, c := range changes {
		lines = append(lines, linesOf(c)...)
	}
	return lines
}

func linesOf(c resolver.Change) (lines []ChangeLine) {
	before, after := c.Before, c.After
	keyChanges, belowChanges := !before.Key.SameForClients(after.Key),
		!before.Below.SameForClients(after.Below)
	if keyChanges || !belowChanges {
		lines = append(lines,
			ChangeLine{c.Rule.Key + c.Query, answerText(before.Key), answerText(after.Key)})
	}
	if belowChanges && (!keyChanges || !sameKind(before) || !sameKind(after)) {
		lines = append(lines, ChangeLine{c.Rule.Key + resolver.Below + c.Query,
			answerText(before.Below), answerText(after.Below)})
	}
	return lines
}

// sameKind reports whether what is below a key has an answer of the same kind as the key.
func sameKind(k resolver.KeyResults) bool {
	return k.Key.Outcome == k.Below.Outcome && k.Key.Status == k.Below.Status
}

func answerText(a resolver.Result) string {
	switch a.Outcome {
	case resolver.Redirect:
		return fmt.Sprintf("%d %s", a.Status, a.Destination)
	case resolver.Failed:
		return "error: " + a.Err.Error()
	}
	return a.Outcome.String()
}

// Change is a change as JSON.
type Change struct {
	Kind     string `json:"kind"`
	Key      string `json:"key"`
	Position string `json:"position,omitempty"`
	// Query stands for the query of the requests, if only requests with one are affected.
	Query  string     `json:"query,omitempty"`
	Before KeyAnswers `json:"before"`
	After  KeyAnswers `json:"after"`
}

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

// ChangeOf returns a change for JSON.
func ChangeOf(c resolver.Change) Change {
	return Change{string(c.Kind), c.Rule.Key, c.Rule.Position.String(), c.Query,
		keyAnswersOf(c.Before), keyAnswersOf(c.After)}
}

func keyAnswersOf(k resolver.KeyResults) KeyAnswers {
	return KeyAnswers{answerOf(k.Key), answerOf(k.Slash), answerOf(k.Below)}
}

func answerOf(a resolver.Result) Answer {
	out := Answer{Outcome: a.Outcome.String(), Destination: a.Destination, Status: a.Status}
	if a.Err != nil {
		out.Error = a.Err.Error()
	}
	return out
}
