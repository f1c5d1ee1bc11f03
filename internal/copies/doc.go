// Package copies keeps copies of the rules of sources in Caddy's storage, and reads them where a
// source cannot be read.
//
// A [Copy] is what is known of the copy of a source, for as long as its rules serve. A [Writer]
// stores it for one configuration. [StandIns] replaces sources that are out by their copies. The
// package imports source and rulefile, and internal/live uses it.
package copies
