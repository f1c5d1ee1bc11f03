// Package live is the rules that serve.
//
// A [Config] says what a handler wants to serve, and where. A [Ruleset] reads and compiles it, lets
// it serve, follows its sources, and changes it by an [Edit]; what serves at a moment is [Loaded].
// Handlers that are configured alike share what serves, also over reloads of Caddy's configuration.
// [AllRunning] are those that run; of each there is a [Status]. What is asked for and not done is a
// [Refusal].
//
// The package imports source, internal/hits and what lies below them. The handler, the admin
// endpoint and the commands ask it; it knows none of them, nor HTTP. The metrics are a part of it.
package live
