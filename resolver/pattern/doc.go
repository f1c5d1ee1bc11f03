// Package pattern says which paths the keys of rules match: what two keys have in common, and which
// of them answers there.
//
// A [Pattern] is a key taken apart into segments. An [Index] finds, among many, those that stand in
// a [Relation] to a given one. Keys come in their canonical form. What a key may be, and which form
// is canonical, is for package resolver to say, which finds rules that nothing tells apart with this
// one. Tables in which the first line that matches answers are turned into rules with it, too. This
// package imports none of the module.
package pattern
