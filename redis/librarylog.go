package redis

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
)

func init() {
	goredis.SetLogger(libraryLog{})
}

// libraryLog takes what the client library has to say, which would otherwise go to standard error
// line by line for each try to reach a server that is gone, into Caddy's log, at the level debug:
// errors come back from its functions as well. The library has one logger for all who use it.
type libraryLog struct{}

// Printf logs a line.
func (libraryLog) Printf(_ context.Context, format string, args ...any) {
	caddy.Log().Named("redis").Debug(fmt.Sprintf(format, args...))
}
