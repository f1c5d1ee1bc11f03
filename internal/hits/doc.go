// Package hits counts how often the rules of a handler have answered, when last, and on which days.
//
// [Counters] count for all handlers of one name. Each ruleset has [RulesetCounters], and a request
// costs one atomic read-modify-write. A [Keeper] stores the counts in Caddy's storage. A [List] has
// the counts of each rule on all servers, and a [Summary] those of each day. The package imports
// resolver and internal/storage. internal/live counts with it, and internal/admin and page show the
// counts.
//
// Counts follow their key from one ruleset to the next:
//
//	call     caller                 when, and what it does
//	Begin    live, at a start       before the ruleset serves: new counters at 0
//	Next     live, at a swap        the same, but if rules keep their numbers the counters stay
//	Count    live, at a request     after the answer is found: one more for the rule
//	Retire   live, after a swap     the ruleset no longer serves: move its counts, and forget it
//	move     Retire, repeatedly     256 counts each, to the ruleset that has the key, or to unserved
//	reclaim  tick and each          every minute: from unserved to a ruleset that has the key again
//
// These are the entries of a server, below shortlink/hits/<name>/<server>/. A key belongs to the
// shard whose number is its hash modulo 64. Shards are written after midnight and after a start, if
// they change. The changes since then are written every minute. <last minute> is in minutes since
// 2020-01-01, and the first count is for the day of that minute.
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
