//go:build linux

package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

const (
	redisPort    = 6379
	sentinelPort = 26379
	// hashName and keyPrefix are where the same rules stand twice in Redis: in a hash, and in a key
	// for each.
	hashName  = "links"
	keyPrefix = "links:"
)

func init() {
	goredis.SetLogger(new(logging.VoidLogger))
}

// node is a redis-server, or a Sentinel, on a host of its own.
type node struct {
	process
	addr   string
	client *goredis.Client
}

// startNode starts a redis-server on a new host. What it has acknowledged is on its disk.
func (l *lab) startNode(t *testing.T, config ...string) *node {
	t.Helper()
	h := l.newHost(t, back)
	n := newNode(t, h, redisPort, append([]string{
		"dir " + h.dir, `save ""`, "appendonly yes", "appendfsync always",
	}, config...)...)
	n.start(t)
	return n
}

// newNode returns a node that is not started yet. Redis and Sentinel write what others tell them
// into the file of their configuration.
func newNode(t *testing.T, h *host, port int, config ...string) *node {
	t.Helper()
	n := &node{addr: fmt.Sprintf("%s:%d", back.address(h.number), port)}
	file := filepath.Join(h.dir, "redis.conf")
	config = append(config, fmt.Sprint("port ", port), "bind "+back.address(h.number),
		"protected-mode no", "")
	if err := os.WriteFile(file, []byte(strings.Join(config, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	n.process = process{host: h, argv: []string{os.Getenv(redisVariable), file}}
	n.client = goredis.NewClient(&goredis.Options{Addr: n.addr, MaxRetries: -1})
	t.Cleanup(func() {
		_ = n.client.Close()
		n.kill()
	})
	return n
}

// start starts the node, and waits until it answers.
func (n *node) start(t *testing.T) {
	t.Helper()
	n.process.start(t)
	await(t, n.addr+" answers", 10*time.Second, func() error {
		return n.client.Ping(t.Context()).Err()
	})
}

// do runs a command, which has to succeed.
func (n *node) do(t *testing.T, args ...any) {
	t.Helper()
	if err := n.client.Do(t.Context(), args...).Err(); err != nil {
		t.Fatalf("%s: %v: %v", n.addr, args, err)
	}
}

// addUser lets the servers in, with any of the passwords.
func (n *node) addUser(t *testing.T, passwords ...string) {
	t.Helper()
	args := []any{"acl", "setuser", "edge", "on", "resetpass", "~" + hashName + "*", "+@all"}
	for _, password := range passwords {
		args = append(args, ">"+password)
	}
	n.do(t, args...)
	n.do(t, "config", "rewrite")
}

// dropUsers ends the servers' connections.
func (n *node) dropUsers(t *testing.T) {
	t.Helper()
	n.do(t, "client", "kill", "user", "edge", "skipme", "yes")
}

// startSentinel starts a Sentinel that watches a master.
func (l *lab) startSentinel(t *testing.T, master *node) *node {
	t.Helper()
	host, port, _ := strings.Cut(master.addr, ":")
	n := newNode(t, l.newHost(t, back), sentinelPort,
		fmt.Sprintf("sentinel monitor main %s %s 2", host, port),
		"sentinel down-after-milliseconds main 1000", "sentinel failover-timeout main 3000")
	n.argv = append(n.argv, "--sentinel")
	n.start(t)
	return n
}

// sites returns a site with the rules in keys, and one with those in a hash.
func sites(url, options string) []site {
	return []site{
		{"keys", fmt.Sprintf("from redis %s* {\n\t\t\turl %s\n%s\t\t}", keyPrefix, url, options)},
		{"hash", fmt.Sprintf("from redis %s {\n\t\t\turl %s\n%s\t\t}", hashName, url, options)},
	}
}

// newFleet starts three servers. A storage is a folder of the server's own if it is empty.
func (l *lab) newFleet(t *testing.T, storages [3]string, sites func() []site,
	env ...string) *fleet {
	t.Helper()
	f := &fleet{lab: l}
	for _, storage := range storages {
		h := l.newHost(t, front, back)
		s := newServer(h, storage, sites()...)
		s.env = env
		f.servers = append(f.servers, s)
		s.start(t)
		t.Cleanup(s.kill)
	}
	return f
}

// fill writes the first version of all rules.
func fill(t *testing.T, client goredis.UniversalClient) {
	t.Helper()
	first := make(map[string]string)
	for i := range all {
		first[key(i)] = destination(i, 0)
	}
	for key, to := range first {
		if err := errors.Join(client.HSet(t.Context(), hashName, key, to).Err(),
			client.Set(t.Context(), keyPrefix+key, to, 0).Err()); err != nil {
			t.Fatal(err)
		}
	}
}

// set returns a function that writes a rule into the hash and into its key. With replicas, the rule
// is there to stay once that many have it.
func set(client goredis.UniversalClient, replicas int) func(ctx context.Context, key,
	to string) error {
	return func(ctx context.Context, key, to string) error {
		var waited *goredis.Cmd
		_, err := client.Pipelined(ctx, func(p goredis.Pipeliner) error {
			p.HSet(ctx, hashName, key, to)
			p.Set(ctx, keyPrefix+key, to, 0)
			if replicas > 0 {
				waited = p.Do(ctx, "wait", replicas, 1000)
			}
			return nil
		})
		if err != nil || replicas == 0 {
			return err
		}
		if has, err := waited.Int(); err != nil || has < replicas {
			return errors.Join(err, errors.New("too few replicas have it"))
		}
		return nil
	}
}

// stored returns a function that returns what the keys hold, and what the hash holds.
func stored(client goredis.UniversalClient) func(ctx context.Context) ([]map[string]string, error) {
	return func(ctx context.Context) ([]map[string]string, error) {
		inHash, err := client.HGetAll(ctx, hashName).Result()
		inKeys := make(map[string]string)
		for i := range all {
			to, inGet := client.Get(ctx, keyPrefix+key(i)).Result()
			if inGet == nil {
				inKeys[key(i)] = to
			} else if !errors.Is(inGet, goredis.Nil) {
				err = errors.Join(err, inGet)
			}
		}
		return []map[string]string{inKeys, inHash}, err
	}
}
