// Package pending has what sources still have to say to the rules that serve.
//
// A [Backlog] has the pending [Reading] of each source: keys that may have changed, or all of it,
// and what was read and rejected. It is the only record of that. A [Follower] follows a source that
// tells which keys have changed, and compares all of its rules with those that serve where it does
// not know. The package imports source and internal/schedule; internal/live reads what is pending.
package pending
