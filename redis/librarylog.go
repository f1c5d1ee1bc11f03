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

// libraryLog writes messages of the client library to Caddy's log, at the level debug. Otherwise
// they would go to standard error, a line for each try to reach a server that is gone; the
// library's functions return errors as well. The library has one logger for all its users.
type libraryLog struct{}

// Printf logs a line.
func (libraryLog) Printf(_ context.Context, format string, args ...any) {
	caddy.Log().Named("redis").Debug(fmt.Sprintf(format, args...))
}
