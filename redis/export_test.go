package redis

import (
	"context"
	"net"

	goredis "github.com/redis/go-redis/v9"
)

// DialWith lets all connections to the one server of a source that has been provisioned be made by
// a function.
func (s *Source) DialWith(
	dial func(ctx context.Context, network, address string) (net.Conn, error),
) {
	s.server.client.(*goredis.Client).Options().Dialer = dial
}
