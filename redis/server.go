package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const defaultURL = "redis://localhost:6379/0"

// server is where the rules are: one server, the master that Redis Sentinels name, or a cluster.
type server struct {
	client  goredis.UniversalClient
	address string // without secrets
	db      int
	// sentinels say which server is the master; nil if none are configured.
	sentinels *sentinels
}

// newServer returns the configured server. It does not connect.
func (s *Source) newServer() (server, error) {
	address := caddy.NewReplacer().ReplaceKnown(cmp.Or(s.URL, defaultURL), "")
	if err := checkScheme(address); err != nil {
		return server{}, fmt.Errorf("redis: %w", err)
	}
	tls, err := s.tlsFiles()
	if err != nil {
		return server{}, err
	}
	switch {
	case s.Cluster:
		return newCluster(address, tls)
	case isSentinel(address):
		return newBehindSentinel(address, tls)
	}
	return newSingle(address, tls)
}

// checkScheme returns an error if an address does not begin with a scheme of Redis, such as
// localhost:6379. It says what to write, without the secrets that the address may contain.
func checkScheme(address string) error {
	scheme, _, found := strings.Cut(address, "://")
	switch {
	case slices.Contains([]string{"redis", "rediss", "unix"}, scheme) && found:
		return nil
	case found && !strings.ContainsAny(scheme, ":@/?"):
		return fmt.Errorf("url must begin with redis://, with TLS rediss://, or unix://, not %s://",
			scheme)
	}
	scheme = "redis://"
	if strings.HasPrefix(address, "/") {
		scheme = "unix://"
	}
	host, _, _ := strings.Cut(address[strings.LastIndexByte(address, '@')+1:], "?")
	return fmt.Errorf("url takes a URL; write %s in front of it, such as %s%s", scheme, scheme, host)
}

// isSentinel reports whether a URL has the option that only those of a Sentinel have.
func isSentinel(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Query().Has("master_name")
}

func newSingle(address string, tls tlsFiles) (server, error) {
	opt, err := goredis.ParseURL(address)
	if err != nil {
		return server{}, urlError(err)
	}
	if err := tls.applyTo(opt.TLSConfig); err != nil {
		return server{}, err
	}
	opt.MaxRetries = cmp.Or(opt.MaxRetries, noRetries)
	opt.DialerRetries = cmp.Or(opt.DialerRetries, oneDial)
	opt.DialTimeout = cmp.Or(opt.DialTimeout, dialTimeout)
	opt.MaintNotificationsConfig = noMaintenanceNotifications()
	return server{
		client:  goredis.NewClient(opt),
		address: fmt.Sprintf("%s/%d", opt.Addr, opt.DB),
		db:      opt.DB,
	}, nil
}

func newBehindSentinel(address string, tls tlsFiles) (server, error) {
	opt, err := goredis.ParseFailoverURL(address)
	if err != nil {
		return server{}, urlError(err)
	}
	if opt.RouteByLatency || opt.RouteRandomly { // the library panics
		return server{}, errors.New("redis: url: route_by_latency and route_randomly are for clusters")
	}
	if err := tls.applyTo(opt.TLSConfig); err != nil {
		return server{}, err
	}
	opt.MaxRetries = cmp.Or(opt.MaxRetries, noRetries)
	opt.DialerRetries = cmp.Or(opt.DialerRetries, oneDial)
	opt.DialTimeout = cmp.Or(opt.DialTimeout, dialTimeout)
	where := fmt.Sprintf("%s %s/%d", opt.MasterName, strings.Join(opt.SentinelAddrs, " "), opt.DB)
	return server{
		client:    goredis.NewFailoverClient(opt),
		address:   where,
		db:        opt.DB,
		sentinels: newSentinels(opt),
	}, nil
}

func newCluster(address string, tls tlsFiles) (server, error) {
	opt, err := goredis.ParseClusterURL(address)
	if err != nil {
		return server{}, urlError(err)
	}
	if err := tls.applyTo(opt.TLSConfig); err != nil {
		return server{}, err
	}
	opt.DialerRetries = cmp.Or(opt.DialerRetries, oneDial)
	opt.DialTimeout = cmp.Or(opt.DialTimeout, dialTimeout)
	opt.MaintNotificationsConfig = noMaintenanceNotifications()
	return server{
		client:  goredis.NewClusterClient(opt),
		address: "cluster " + strings.Join(opt.Addrs, " "),
	}, nil
}

// The library must not retry: Watch does, with growing pauses, and when Caddy starts the stored
// copy must serve at once.
const (
	noRetries = -1
	oneDial   = 1
)

// dialTimeout is how long connecting may take, unless the URL says so. What a partition has
// swallowed of a connection is sent again ever more rarely, so that a new one is there sooner after
// it.
const dialTimeout = 2 * time.Second

// noMaintenanceNotifications turns off a handshake that only servers of a hosted Redis product
// know.
func noMaintenanceNotifications() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// urlError returns the error of the URL. Errors of package net/url contain the URL, perhaps with a
// password.
func urlError(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return errors.New("redis: url: this is not a URL: write redis://user:password@host:6379/0, " +
			"rediss:// or unix:///path, " +
			"with user and password percent-encoded")
	}
	return fmt.Errorf("redis: url: %s", strings.TrimPrefix(err.Error(), "redis: "))
}

// node returns a client of the server that holds a key.
func (s server) node(ctx context.Context, key string) (*goredis.Client, error) {
	if cluster, ok := s.client.(*goredis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key)
	}
	return s.client.(*goredis.Client), nil
}

// masters returns clients of all servers that hold keys, as the cluster knows them now.
func (s server) masters(ctx context.Context) (masters []*goredis.Client, err error) {
	cluster, ok := s.client.(*goredis.ClusterClient)
	if !ok {
		return []*goredis.Client{s.client.(*goredis.Client)}, nil
	}
	var mu sync.Mutex
	err = cluster.ForEachMaster(ctx, func(_ context.Context, master *goredis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, master)
		return nil
	})
	if err == nil && len(masters) == 0 {
		err = errors.New("the Redis cluster has no masters")
	}
	slices.SortFunc(masters, func(a, b *goredis.Client) int {
		return strings.Compare(a.Options().Addr, b.Options().Addr)
	})
	return masters, err
}

// close closes all connections. The server may never have been set up.
func (s server) close() error {
	if s.client == nil {
		return nil
	}
	return errors.Join(s.client.Close(), s.sentinels.close())
}
