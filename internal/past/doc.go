// Package past tells what the rules of a handler were, and how they become so again.
//
// The [Past] of a handler asks the [history.Store] of its name, which knows rules as texts, for the
// changes of keys in any spelling, and records what a swap changes. [Text] is the text of a rule
// there. Errors are refusals. internal/live records and restores with it, and internal/admin and
// page show the changes.
package past
