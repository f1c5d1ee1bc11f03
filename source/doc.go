// Package source reads rules that do not stand in the handler's configuration. A [Source] is a
// Caddy module in the namespace http.shortlink.sources that reads rules, and tells when they may
// have changed. [File] and [Storage] are two of them, which importing this package registers;
// package redis has another.
//
// What is read comes with a version, with expectations if the source has some ([Expectations]), and
// with an [Outage] while it cannot be read. The package imports rulefile and what lies below it. It
// knows no handler: package internal/live reads the sources and serves their rules.
package source
