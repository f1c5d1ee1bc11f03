// Package history keeps the changes of the rules that serve, in Caddy's storage.
//
// A [Change] says when which rules became which others, and who did it. An [Entry] is a change with
// the rules of each key before and after, so that it can be taken back. A [Store] has those of all
// handlers of one name. The package knows rules as texts alone: internal/live records what it
// swaps, and internal/admin, internal/command and page show it.
//
// These are the entries of a name, below shortlink/history/<name>/. A digest stands there with half
// of its digits. A change that happens again has the next number:
//
//	<old digest>-<new digest>-1a   a change that a server has found in its sources
//	<old digest>-<new digest>-1b   the same, from the server that has made it
//	<old digest>-<new digest>-1c   the same, without its content, because it was forgotten
//	<old digest>-<new digest>-2a   it was taken back, and happened again
//
// An entry is a line of JSON and the content:
//
//	shortlink history 1 {"time":...,"old_digest":...,"digest":...,...}
//	<the changes of all keys, as JSON, compressed with zstd unless they are few>
//
// So servers that share a storage write a change under one name, without a lock. Of several forms
// of an entry the last in this order counts, and the others are deleted. An entry never changes, so
// that servers read it once. Entries are in the order of their numbers, not of their times, because
// clocks differ.
package history
