// Package coverage says which URLs of a site have no answer.
//
// [Counts] reads logs, sitemaps, tables and lists, each told by its content, and counts the
// requests of each URL. [Counts.Report] asks a compiled ruleset, the site's files and the log what
// becomes of each: its [Class]. For those that are missing a [Report] suggests keys and pages that
// were perhaps meant. The package imports resolver, weburl, internal/find, internal/near and
// internal/webroot; internal/command prints what it finds.
package coverage
