// Package find finds rules by what people remember of them.
//
// An [Index] is of the ruleset that serves, and follows it from one to the next. Editors search it
// by the beginning of a key, or by a part of anything that a rule says. To those who ask for a key
// that is not there it suggests keys which they perhaps meant. It is made in the background once it
// is first asked for. [Listed] suggests keys without an index. What is near, internal/near says.
//
// The package imports resolver and internal/near.
package find
