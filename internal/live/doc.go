// Package live holds the rules that serve.
//
// A [Config] says what a handler wants to serve, and where. A [Ruleset] reads and compiles the
// rules, swaps them in, follows their sources and the clock, and changes them by an [Edit]; what
// serves at a moment is [Loaded], with the rules as they are written. Handlers that are configured
// alike share what serves, also over reloads of Caddy's configuration. [AllRunning] returns those
// that run.
//
// The package imports source, the packages that a load uses (such as internal/pending and
// internal/report) and what lies below them. The handler, the admin endpoint and the commands ask
// it; it knows none of them, nor HTTP.
package live
