// Package source reads rules from outside the handler's configuration. A [Source] is a Caddy module
// in the namespace http.shortlink.sources. It reads rules, and says when they may have changed.
// Importing this package registers three of them, [File], [Storage] and [URL]. Package redis has
// another.
//
// What is read comes with a version, with expectations if the source has some ([Expectations]), and
// with an [Outage] while it cannot be read. The package imports rulefile and what lies below it. It
// knows no handler: package internal/live reads the sources and serves their rules.
package source
