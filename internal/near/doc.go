// Package near finds the texts that somebody perhaps meant who wrote another one: a key for a path
// that no rule answers, an option, a command.
//
// [Search] compares a path with all [Texts], and an [Index] only with those that share a piece with
// it. Both rank what they find in the same way. [Slips] turns the question round: it finds which of
// some paths are one letter away from one of a million keys. The package knows only texts, and
// imports nothing of the module.
package near
