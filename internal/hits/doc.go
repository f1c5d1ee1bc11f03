// Package hits counts how often the rules of a handler have redirected, when last, and on which
// days.
//
// [Counters] are those of the handlers of one name, over all rulesets that serve one after the
// other; a request takes one atomic operation. A [Keeper] stores them in Caddy's storage, each
// server in entries of its own, and also what each [Day] had, for the last [DaysKept] days. A
// [List] is what all servers have counted of a ruleset. The package imports resolver; internal/live
// counts with it, and internal/admin lists what is counted.
package hits
