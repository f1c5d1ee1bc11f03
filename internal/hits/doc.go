// Package hits counts how often the rules of a handler have redirected, when last, and on which
// days.
//
// [Counters] are those of the handlers of one name, over all rulesets that serve one after the
// other; a request takes one atomic operation. A [Keeper] stores them in Caddy's storage, each
// server in entries of its own, and also what each [Day] had, for the last [DaysKept] days. A
// [List] is what all servers have counted of a ruleset. The package imports resolver; internal/live
// counts with it, and internal/admin lists what is counted.
//
// These are the entries of a server, below shortlink/hits/<name>/<server>/. A shard has the keys
// whose hash is its number, modulo 64. It is written when a day is over, and after a start, if it
// changes; what has changed since is written each minute. A minute is one since 2020, and its day
// is that of the first count.
//
//	shards/0
//	...
//	shards/63      shortlink hits 2 {}
//	               <canonical key> <total> <last minute> <count of its day>,<of the day before>,...
//	               ...
//	               end <CRC-32 of what is before>
//
//	today          shortlink hits 2 {"since":...,"date":...,"n":...,"days":[...],"top":[...]}
//	               <canonical key> <total> <last minute>
//	               ...
//	               end <CRC-32 of what is before>
//
// The first line of today says what all keys together had, so that nobody has to read the shards
// for it.
package hits
