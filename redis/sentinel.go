package redis

import (
	"context"
	"errors"
	"fmt"
	"net"

	goredis "github.com/redis/go-redis/v9"
)

// sentinels are the Redis Sentinels that say which server is the master. In a commanded failover,
// the old master goes on for ten seconds as if it still were one: its connections live, and it
// pushes nothing.
type sentinels struct {
	masterName string
	clients    []*goredis.SentinelClient
	preferred  int // the Sentinel that answered last
}

// newSentinels returns the Sentinels in options. It does not connect.
func newSentinels(opt *goredis.FailoverOptions) *sentinels {
	s := &sentinels{masterName: opt.MasterName}
	for _, address := range opt.SentinelAddrs {
		s.clients = append(s.clients, goredis.NewSentinelClient(&goredis.Options{
			Addr:                     address,
			Username:                 opt.SentinelUsername,
			Password:                 opt.SentinelPassword,
			TLSConfig:                opt.TLSConfig,
			DialTimeout:              opt.DialTimeout,
			ReadTimeout:              opt.ReadTimeout,
			WriteTimeout:             opt.WriteTimeout,
			MaxRetries:               noRetries,
			DialerRetries:            oneDial,
			PoolSize:                 1,
			MaintNotificationsConfig: noMaintenanceNotifications(),
		}))
	}
	return s
}

// master returns the address of the master, from the first Sentinel that answers.
func (s *sentinels) master(ctx context.Context) (string, error) {
	var errs []error
	for range s.clients {
		address, err := s.clients[s.preferred].GetMasterAddrByName(ctx, s.masterName).Result()
		if err == nil && len(address) == 2 {
			return net.JoinHostPort(address[0], address[1]), nil
		}
		errs = append(errs, err)
		s.preferred = (s.preferred + 1) % len(s.clients)
	}
	return "", fmt.Errorf("no Redis Sentinel knows the master %s: %w", s.masterName,
		errors.Join(errs...))
}

// untilSwitched returns an error when the master is no longer at an address, or ctx ends. Sentinels
// that do not answer are no reason to leave a master that does.
func (s *sentinels) untilSwitched(ctx context.Context, address string) error {
	for {
		wait(ctx, recheck)
		if err := ctx.Err(); err != nil {
			return err
		}
		if now, err := s.master(ctx); err == nil && now != address {
			return fmt.Errorf("the sentinels have made %s the master instead of %s", now, address)
		}
	}
}

// close closes all connections. There may be no Sentinels.
func (s *sentinels) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, client := range s.clients {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}
