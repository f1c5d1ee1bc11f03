// Package near finds texts that were perhaps meant by another text: a key for a path that no rule
// answers, an option, a command.
//
// [Search] compares a path with all [Texts], and an [Index] only with those that have a piece in
// common with it. Both rank their results in the same way. [Slips] turns the question round: it
// finds which of some paths are one letter away from one of a million keys. The package knows only
// texts, and imports nothing of the module.
package near
