// Command caddy is Caddy with its standard modules and shortlink.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-shortlink/shortlink"
	_ "github.com/caddy-shortlink/shortlink/page"
	_ "github.com/caddy-shortlink/shortlink/redis"
)

func main() {
	caddycmd.Main()
}
