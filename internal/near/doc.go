// Package near finds the texts that somebody perhaps meant who wrote another one: a key for a path
// that no rule answers, an option, a command.
//
// [Search] compares a path with all of some [Texts], [Index] only with those that have a piece in
// common with it. Both rank what they find in the same way. [Slips] asks the other way around: of
// some paths, which are one letter away from one of a million keys. The package knows texts alone,
// and imports nothing of the module.
package near
