// Package pattern says which paths the keys of rules match: what two keys have in common, and which
// of them answers there.
//
// A [Pattern] is a key split into segments. An [Index] finds the keys, among many, in a [Relation]
// to a given one. Keys are in the canonical form that package resolver defines. Package lint uses
// an index to find rules whose order nothing decides. Package redirects uses one to turn a table,
// in which the first matching line answers, into rules. This package imports nothing of the module.
package pattern
