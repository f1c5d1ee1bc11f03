// Package pattern says which paths the keys of rules match: what two keys have in common, and which
// of them answers there.
//
// A [Pattern] is a key taken apart into segments. An [Index] finds, among many, those that stand in
// a [Relation] to a given one. Keys come in their canonical form: what a key may be, and which form
// is canonical, package resolver says, which finds with this one the rules that nothing tells apart.
// Package rulefile makes rules with it of tables in which the first line that matches answers. This
// package imports none of the module.
package pattern
