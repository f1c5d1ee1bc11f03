// Package testcaddy runs a whole Caddy for tests. A [Server] serves a block of a Caddyfile. A
// [Follower] serves a file of rules that changes. [Run] runs a command. A [Reply] is the response
// as a client sees it. The package also has handlers, a source and a storage for tests.
//
// It is for external test packages (package x_test). It imports the handler, and so nearly every
// package of the module. No product code imports it.
package testcaddy

import (
	// The adapter, and Caddy's standard modules.
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-shortlink/shortlink/page"
)
