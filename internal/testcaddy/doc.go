// Package testcaddy runs a whole Caddy for tests: a [Server] serves a block of a Caddyfile, a
// [Follower] does so from a file of rules that changes, and [Run] runs a command. A [Reply] is what
// a client sees. It brings handlers, a source and a storage that only tests use.
//
// It is for external test packages (package x_test), as it imports the handler and with it nearly
// every package of the module. No product code imports it.
package testcaddy

import (
	// The adapter, and the modules that Caddy comes with.
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-shortlink/shortlink/page"
)
