// Package source is where the rules of a shortlink handler come from besides its configuration. A
// [Source] is a Caddy module in the namespace http.shortlink.sources that reads rules, and tells
// when they may have changed. [File] and [Storage] are two of them, which importing this package
// registers; package redis has another.
//
// What is read comes with a version, with expectations if the source has some ([Expectations]), and
// with an [Outage] while it cannot be read. The package imports rulefile and what lies below it. It
// knows no handler: package internal/live asks the sources and lets serve what they return.
package source
