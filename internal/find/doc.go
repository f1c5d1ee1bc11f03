// Package find finds rules by what people remember of them.
//
// An [Index] is of the ruleset that serves, and follows it from one to the next. Editors search it
// by the beginning of a key, or by a part of anything that a rule says. To those who ask for a key
// that is not there it suggests keys which they perhaps meant. It is made in the background once it
// is first asked for. [Nearest] suggests keys of a ruleset that does not change.
//
// The package imports resolver; internal/live finds with an Index, internal/coverage with Nearest.
package find
