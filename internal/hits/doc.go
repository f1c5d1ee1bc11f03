// Package hits counts how often the rules of a handler have redirected, when last, and on which
// days.
//
// [Counters] count for all handlers of one name. Each ruleset has a [RulesetCounters], and a request
// costs one atomic operation. A [Keeper] stores the counts in Caddy's storage, and a [List] adds up
// those of all servers. The package imports resolver. internal/live counts with it, and
// internal/admin and page show the counts.
//
// Counts follow their key from one ruleset to the next:
//
//	call     caller                 when, and what it does
//	Begin    live, at a start       a ruleset will serve; its rules begin at 0
//	Next     live, at a swap        as Begin, or the counters go on if the rules keep their numbers
//	Count    every request          its answer is known; one more for the rule
//	Retire   live, after a swap     a ruleset serves no more; it is moved and forgotten
//	move     Retire, repeatedly     256 counts go to the ruleset that has the key, or to unserved
//	reclaim  tick and each          every minute: from unserved to a ruleset that has the key again
//
// These are the entries of a server, below shortlink/hits/<name>/<server>/. A key belongs to the
// shard whose number is its hash modulo 64. Shards are written after midnight and after a start, if
// they change. The changes since then are written every minute. A last minute is counted from 2020,
// and the first of the counts is that of its day.
//
//	shards/0
//	...
//	shards/63      shortlink hits 2 {}
//	               <canonical key> <total> <last minute> <count of its day>,<of the day before>,...
//	               ...
//	               end <CRC-32 of the text before>
//
//	today          shortlink hits 2 {"since":...,"date":...,"n":...,"days":[...],"top":[...]}
//	               <canonical key> <total> <last minute>
//	               ...
//	               end <CRC-32 of the text before>
//
// The first line of today sums up all keys, so that nobody has to read the shards for that.
package hits
