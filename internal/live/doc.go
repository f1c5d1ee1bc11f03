// Package live holds the rules that serve.
//
// A [Config] says what a handler wants to serve, and where. A [Ruleset] reads and compiles the
// rules, swaps them in, follows their sources and the clock, and changes them by an [Edit]; what
// serves at a moment is [Loaded], with the rules as they are written. Handlers that are configured
// alike share what serves, also over reloads of Caddy's configuration. [AllRunning] returns those
// that run, each with a [Status]. An error that is the client's to mend is a [Refusal].
//
// The package imports source, internal/schedule, internal/history, internal/hits and what lies
// below them. The handler, the admin endpoint and the commands ask it; it knows none of them, nor
// HTTP. The metrics are a part of it.
package live
