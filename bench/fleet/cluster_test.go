//go:build linux

package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// clustered is a Redis Cluster of three masters without replicas.
type clustered struct {
	*fleet
	nodes  [3]*node
	client *goredis.ClusterClient
}

// startClustered starts everything, with requests and writes.
func startClustered(t *testing.T) *clustered {
	l := newLab(t)
	c := new(clustered)
	slots := []int{0, 5461, 10923, 16384}
	var addrs []string
	for i := range c.nodes {
		c.nodes[i] = l.startNode(t, "cluster-enabled yes", "cluster-node-timeout 2000")
		c.nodes[i].do(t, "cluster", "set-config-epoch", i+1)
		c.nodes[i].do(t, "cluster", "addslotsrange", slots[i], slots[i+1]-1)
		addrs = append(addrs, c.nodes[i].addr)
	}
	address, port, _ := strings.Cut(c.nodes[0].addr, ":")
	for _, n := range c.nodes[1:] {
		n.do(t, "cluster", "meet", address, port)
	}
	c.awaitCluster(t)
	c.client = goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: addrs, DialTimeout: time.Second, ReadTimeout: 2 * time.Second,
	})
	t.Cleanup(func() { _ = c.client.Close() })
	fill(t, c.client)
	url := fmt.Sprintf("redis://%s?addr=%s&addr=%s", addrs[0], addrs[1], addrs[2])
	c.fleet = l.newFleet(t, [3]string{}, func() []site {
		return sites(url, "\t\t\tcluster\n")
	})
	c.write, c.stored = set(c.client, 0), stored(c.client)
	c.isEdited = true
	c.run(t)
	return c
}

// awaitCluster waits until all nodes take commands, as they know who has which slots.
func (c *clustered) awaitCluster(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes {
		await(t, "the cluster is complete", 20*time.Second, func() error {
			info, err := n.client.ClusterInfo(t.Context()).Result()
			if err == nil && !(strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, "cluster_size:3")) {
				err = fmt.Errorf("%s", info)
			}
			return err
		})
	}
}

func TestServersStayRightWhileARedisClusterBreaks(t *testing.T) {
	c := startClustered(t)
	c.sufferAll(t, c.faults())
}

func (c *clustered) faults() []fault {
	return []fault{
		{
			name: "each server is killed", happen: c.restartServers,
			expected: "its clients are refused until it is started again; it reads Redis",
		},
		{
			name: "each master is killed", expected: "the last rules serve",
			happen: func(t *testing.T) {
				for _, n := range c.nodes {
					killed(t, 3*time.Second, n)
					c.awaitCluster(t)
				}
			},
		},
		{
			name: "a server is cut off from Redis", expected: "it serves the last rules",
			happen: func(t *testing.T) { cutOff(t, 8*time.Second, c.servers[1].host) },
		},
		{
			name: "a master is cut off", expected: "the last rules serve",
			happen: func(t *testing.T) {
				cutOff(t, 6*time.Second, c.nodes[1].host)
				c.awaitCluster(t)
			},
		},
		{
			name:     "all of Redis is killed, and each server",
			expected: "the last rules serve, and the stored copies after a restart",
			happen: func(t *testing.T) {
				for _, n := range c.nodes {
					n.kill()
				}
				c.restartServers(t)
				for _, n := range c.nodes {
					n.start(t)
				}
				c.awaitCluster(t)
			},
		},
		{
			name: "a master's memory is full", expected: "writes and edits are refused; rules serve",
			happen: func(t *testing.T) {
				c.nodes[0].do(t, "config", "set", "maxmemory", "1mb")
				pause(t.Context(), 2*time.Second)
				c.nodes[0].do(t, "config", "set", "maxmemory", "0")
			},
		},
	}
}
