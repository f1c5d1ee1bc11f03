// Package hits counts how often the rules of a handler have redirected, and when last.
//
// [Counters] are those of the handlers of one name, over all rulesets that serve one after the
// other; a request takes one atomic operation. A [Keeper] stores them in Caddy's storage, each
// server in an entry of its own. A [List] is what all servers have counted of a ruleset. The
// package imports resolver; internal/live counts with it, and internal/admin lists what is counted.
package hits
