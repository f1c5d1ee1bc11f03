// Package find finds rules by what people remember of them.
//
// An [Index] follows the ruleset that serves. It is made in the background at the first call.
// Editors search it by the beginning of a key, or by a part of a key, destination or note. For a
// key that has no rule it suggests keys that were perhaps meant. [Nearest] suggests keys of a
// ruleset that does not change.
//
// The package imports resolver; internal/live finds with an Index, internal/coverage with Nearest.
package find
