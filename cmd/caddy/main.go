// Command caddy is Caddy with its standard modules and shortlink.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-shortlink/shortlink"
)

func main() {
	caddycmd.Main()
}
