// Package coverage says which URLs of a site have no answer.
//
// [Counts] reads logs, sitemaps, tables and lists, which it recognises by their content, and counts
// the requests of each URL. [Counts.Report] finds the [Class] of each URL by a compiled ruleset,
// the site's files and the log. For missing URLs a [Report] suggests keys and pages. The package
// imports resolver, weburl, internal/find and internal/webroot; internal/command prints its
// reports.
package coverage
