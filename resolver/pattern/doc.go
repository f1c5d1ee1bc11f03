// Package pattern says which paths the keys of rules match: what two keys have in common, and
// which of them answers there.
//
// A [Pattern] is a key taken apart into segments. An [Index] finds, among many, those that stand
// in a [Relation] to a given one. Keys come in their canonical form, which package resolver
// defines. It finds rules that nothing tells apart with an index. Tables in which the first line
// that matches answers are turned into rules with one, too. This package imports none of the
// module.
package pattern
