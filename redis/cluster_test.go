package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// cluster is a Redis Cluster of a test's own.
type cluster struct {
	nodes  []*realServer
	ports  []string
	client *goredis.ClusterClient
}

// startCluster starts a cluster of three masters.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := new(cluster)
	for range 3 {
		port := freePort(t)
		c.ports = append(c.ports, port)
		c.nodes = append(c.nodes, startServer(t, "--port", port, "--bind", "127.0.0.1",
			"--cluster-enabled", "yes", "--cluster-port", freePort(t)))
	}
	slots := []int{0, 5461, 10923, 16384}
	for i, node := range c.nodes {
		node.do(t, "cluster", "set-config-epoch", i+1)
		node.do(t, "cluster", "addslotsrange", slots[i], slots[i+1]-1)
		if i > 0 {
			c.meet(t, node, 0)
		}
	}
	for _, node := range c.nodes {
		c.untilOK(t, node)
	}
	c.client = goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: []string{"127.0.0.1:" + c.ports[0]}})
	t.Cleanup(func() { c.client.Close() })
	return c
}

// meet lets a node meet another.
func (c *cluster) meet(t *testing.T, node *realServer, other int) {
	t.Helper()
	bus := ""
	for i, arg := range c.nodes[other].args {
		if arg == "--cluster-port" {
			bus = c.nodes[other].args[i+1]
		}
	}
	node.do(t, "cluster", "meet", "127.0.0.1", c.ports[other], bus)
}

// untilOK waits until a node takes commands, as it knows who has which slots.
func (c *cluster) untilOK(t *testing.T, node *realServer) {
	t.Helper()
	for begun := time.Now(); ; {
		info, _ := node.client.ClusterInfo(t.Context()).Result()
		shards, _ := node.client.ClusterShards(t.Context()).Result()
		if strings.Contains(info, "cluster_state:ok") && len(shards) >= 3 {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("the cluster does not come up: %s", info)
		}
		time.Sleep(10 * time.Millisecond) // nodes tell each other at times of their own
	}
}

func (c *cluster) url() string { return "redis://127.0.0.1:" + c.ports[0] }

// set writes rules with a key for each.
func (c *cluster) set(t *testing.T, key, value string) {
	t.Helper()
	if err := c.client.Set(t.Context(), "links:"+key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}

// rules returns what all nodes hold.
func (c *cluster) rules(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, node := range c.nodes {
		names, err := node.client.Keys(t.Context(), "links:*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			all[strings.TrimPrefix(name, "links:")] = c.client.Get(t.Context(), name).Val()
		}
	}
	return all
}

// untilLikeCluster waits until the edge serves what a cluster holds.
func (e *edge) untilLikeCluster(t *testing.T, c *cluster, within time.Duration) {
	t.Helper()
	want := c.rules(t)
	e.until(t, "what the cluster holds is served", within, func(e *edge) bool {
		return e.err == nil && maps.Equal(e.rules, want)
	})
}

func TestTheKeysOfAllMastersOfAClusterAreServed(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for i := range 100 {
		c.set(t, fmt.Sprint(i), "/old")
	}
	for _, node := range c.nodes {
		node.addKeysUser(t, "edge", "+client|tracking", "+cluster|slots", "+command", "+asking",
			"+set", "+del", "+watch", "+unwatch", "+multi", "+exec")
	}
	url := strings.Replace(c.url(), "redis://", "redis://edge:secret@", 1)
	e := startKeysEdge(t, &Source{URL: url, Cluster: true})
	if by := e.waitForLog(t, "watching redis").ContextMap()["by"]; by != "client tracking" {
		t.Errorf("changes are noticed by %v", by)
	}
	if len(e.rules) != 100 {
		t.Fatalf("%d rules", len(e.rules))
	}
	t.Run("changes on each master", func(t *testing.T) {
		for i := range 100 {
			c.set(t, fmt.Sprint(i+50), "/new")
		}
		c.client.Del(t.Context(), "links:3")
		e.untilLikeCluster(t, c, 2*time.Second)
		if e.readings() != 1 {
			t.Errorf("everything was read %d times", e.readings())
		}
	})
	t.Run("an edit", func(t *testing.T) {
		for i := range 10 {
			key := fmt.Sprint("edited-", i)
			if err := e.edit(t, key, "", &resolver.Rule{Key: key, Value: "/e"}); err != nil {
				t.Fatal(err)
			}
		}
		e.untilLikeCluster(t, c, 2*time.Second)
	})
	t.Run("an edit of several keys", func(t *testing.T) {
		changes := []rulefile.Change{changeOf(t, "7", "", "/7"), changeOf(t, "8", "", "/8")}
		_, err := e.source.Edit(t.Context(), "", editOf(changes...))
		if _, is := errors.AsType[rulefile.Errors](err); !is ||
			!strings.Contains(err.Error(), "such as {links:}") {
			t.Errorf("got %v", err)
		}
		tagged := newEdge(t, &Source{URL: c.url(), Cluster: true, Hash: "{tagged}:*"}, t.TempDir())
		if _, err := tagged.source.Edit(t.Context(), "", editOf(changes...)); err != nil {
			t.Error(err)
		}
		if got := c.client.MGet(t.Context(), "{tagged}:7", "{tagged}:8").Val(); got[0] != "/7" ||
			got[1] != "/8" {
			t.Errorf("the keys hold %v", got)
		}
	})
	t.Run("one master is flushed", func(t *testing.T) {
		c.nodes[1].do(t, "flushall")
		e.untilLikeCluster(t, c, 2*time.Second)
	})
	t.Run("a connection is lost", func(t *testing.T) {
		c.nodes[2].do(t, "client", "kill", "type", "normal", "skipme", "yes")
		for i := range 20 {
			c.set(t, fmt.Sprint("lost-", i), "/new")
		}
		e.untilLikeCluster(t, c, 5*time.Second)
	})
	t.Run("a slot moves", func(t *testing.T) {
		c.moveSlotOf(t, "links:lost-1", e)
	})
	t.Run("a master is new", func(t *testing.T) {
		c.addMaster(t)
		c.moveSlotOf(t, "links:lost-2", e)
	})
}

// addMaster adds a master without slots.
func (c *cluster) addMaster(t *testing.T) {
	t.Helper()
	port := freePort(t)
	node := startServer(t, "--port", port, "--bind", "127.0.0.1",
		"--cluster-enabled", "yes", "--cluster-port", freePort(t))
	node.do(t, "cluster", "set-config-epoch", 9)
	node.addKeysUser(t, "edge", "+client|tracking", "+cluster|slots", "+asking")
	c.nodes, c.ports = append(c.nodes, node), append(c.ports, port)
	for i := range c.nodes[:3] {
		c.meet(t, node, i)
	}
	c.untilOK(t, node)
	for _, other := range c.nodes[:3] {
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			nodes, _ := other.client.ClusterNodes(t.Context()).Result()
			if strings.Count(nodes, "connected") > 3 {
				break
			}
			if time.Since(begun) > 20*time.Second {
				t.Fatal("the new node is not known")
			}
		}
	}
}

// moveSlotOf moves the slot of a key to the last node or, if it is there, to the first, and writes
// to the key at each step.
func (c *cluster) moveSlotOf(t *testing.T, name string, e *edge) {
	t.Helper()
	ctx := context.Background()
	slot := c.client.ClusterKeySlot(ctx, name).Val()
	from, to := -1, len(c.nodes)-1
	for i, node := range c.nodes {
		if node.client.ClusterCountKeysInSlot(ctx, int(slot)).Val() > 0 {
			from = i
		}
	}
	if from == to {
		to = 0
	}
	id := func(i int) string { return c.nodes[i].client.Do(ctx, "cluster", "myid").String() }
	ids := func(i int) string { return strings.TrimPrefix(id(i), "cluster myid: ") }
	c.nodes[to].do(t, "cluster", "setslot", slot, "importing", ids(from))
	c.nodes[from].do(t, "cluster", "setslot", slot, "migrating", ids(to))
	key := strings.TrimPrefix(name, "links:")
	c.set(t, key, "/migrating")
	e.untilServed(t, key, "/migrating", 2*time.Second)
	_, port, _ := net.SplitHostPort("127.0.0.1:" + c.ports[to])
	names := c.nodes[from].client.ClusterGetKeysInSlot(ctx, int(slot), 100).Val()
	args := []any{"migrate", "127.0.0.1", port, "", 0, 5000, "keys"}
	for _, name := range names {
		args = append(args, name)
	}
	c.nodes[from].do(t, args...)
	c.set(t, key, "/migrated")
	e.untilServed(t, key, "/migrated", 5*time.Second)
	for i := range c.nodes {
		c.nodes[i].do(t, "cluster", "setslot", slot, "node", ids(to))
	}
	c.set(t, key, "/moved")
	e.untilServed(t, key, "/moved", 5*time.Second)
	e.untilLikeCluster(t, c, 5*time.Second)
}
