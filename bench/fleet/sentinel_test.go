//go:build linux

package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// watched is a Redis with a replica, and three Sentinels that watch them.
type watched struct {
	*fleet
	redis     [2]*node // the first is the master at the start
	sentinels [3]*node
	client    *goredis.Client
}

// startWatched starts everything, with requests and writes.
func startWatched(t *testing.T) *watched {
	l := newLab(t)
	w := new(watched)
	w.redis[0] = l.startNode(t)
	w.redis[1] = l.startNode(t)
	address, port, _ := strings.Cut(w.redis[0].addr, ":")
	w.redis[1].do(t, "replicaof", address, port)
	for _, n := range w.redis {
		n.addUser(t, "first")
	}
	var addrs []string
	for i := range w.sentinels {
		w.sentinels[i] = l.startSentinel(t, w.redis[0])
		addrs = append(addrs, w.sentinels[i].addr)
	}
	w.client = goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: "main", SentinelAddrs: addrs, DialTimeout: time.Second, ReadTimeout: 2 * time.Second,
	})
	t.Cleanup(func() { _ = w.client.Close() })
	w.awaitSentinels(t)
	fill(t, w.client)
	w.fleet = l.newFleet(t, [3]string{l.newDisk(t), l.newDisk(t), l.newDisk(t)}, func() []site {
		return sites(w.url("first"), "")
	})
	w.write, w.stored = set(w.client, 1), stored(w.client)
	w.isEdited = true
	w.run(t)
	return w
}

// url returns the source's URL for servers.
func (w *watched) url(password string) string {
	url := fmt.Sprintf("redis://%s/0?master_name=main&username=edge&password=%s",
		w.sentinels[0].addr, password)
	for _, sentinel := range w.sentinels[1:] {
		url += "&addr=" + sentinel.addr
	}
	return url
}

// awaitSentinels waits until the Sentinels know each other and the replica, so that they can
// fail over.
func (w *watched) awaitSentinels(t *testing.T) {
	t.Helper()
	for _, sentinel := range w.sentinels {
		await(t, "the Sentinels know each other", 30*time.Second, func() error {
			main, err := goredis.NewSentinelClient(&goredis.Options{Addr: sentinel.addr}).
				Master(t.Context(), "main").Result()
			if err == nil && (main["num-other-sentinels"] != "2" || main["num-slaves"] != "1") {
				err = fmt.Errorf("%v Sentinels and %v replicas", main["num-other-sentinels"],
					main["num-slaves"])
			}
			return err
		})
	}
}

// master returns the node that takes writes, and its replica.
func (w *watched) master(t *testing.T) (master, replica *node) {
	t.Helper()
	var addr []string
	await(t, "a Sentinel knows the master", 10*time.Second, func() (err error) {
		addr, err = goredis.NewSentinelClient(&goredis.Options{Addr: w.sentinels[1].addr}).
			GetMasterAddrByName(t.Context(), "main").Result()
		return err
	})
	if strings.Join(addr, ":") == w.redis[0].addr {
		return w.redis[0], w.redis[1]
	}
	return w.redis[1], w.redis[0]
}

// awaitReplica waits until the replica follows the master again, so that writes can be
// acknowledged.
func (w *watched) awaitReplica(t *testing.T) {
	t.Helper()
	await(t, "a replica follows the master", 30*time.Second, func() error {
		got, err := w.client.Info(t.Context(), "replication").Result()
		if err == nil && !strings.Contains(got, "state=online") {
			err = fmt.Errorf("no replica is online")
		}
		return err
	})
}

// killed kills processes, waits, and starts them again.
func killed(t *testing.T, length time.Duration, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		n.kill()
	}
	pause(t.Context(), length)
	for _, n := range nodes {
		n.start(t)
	}
}

// restartServers kills each server in turn, and starts it again.
func (f *fleet) restartServers(t *testing.T) {
	for _, s := range f.servers {
		s.kill()
		pause(t.Context(), 500*time.Millisecond)
		s.start(t)
	}
}

// cutOff takes a host off the network for a while.
func cutOff(t *testing.T, length time.Duration, h *host) {
	t.Helper()
	h.cutOff(t)
	pause(t.Context(), length)
	h.rejoin(t)
}

func TestServersStayRightWhileRedisWithSentinelBreaks(t *testing.T) {
	w := startWatched(t)
	w.sufferAll(t, w.faults())
}

func (w *watched) faults() []fault {
	return []fault{
		{
			name: "each server is killed", happen: w.restartServers,
			expected: "its clients are refused until it is started again; it reads Redis",
		},
		{
			name: "the replica is killed", expected: "nothing; writes that wait for it do",
			happen: func(t *testing.T) {
				_, replica := w.master(t)
				killed(t, 3*time.Second, replica)
				w.awaitReplica(t)
			},
		},
		{
			name: "a Sentinel is killed", expected: "nothing: the others are asked",
			happen: func(t *testing.T) { killed(t, 3*time.Second, w.sentinels[0]) },
		},
		{
			name: "the master is killed", isFailover: true,
			expected: "the last rules serve until the replica takes over",
			happen: func(t *testing.T) {
				master, _ := w.master(t)
				killed(t, 6*time.Second, master)
				w.awaitReplica(t)
			},
		},
		{
			name: "a failover is ordered", isFailover: true, expected: "the new master is followed",
			happen: func(t *testing.T) {
				w.awaitSentinels(t)
				w.sentinels[0].do(t, "sentinel", "failover", "main")
				pause(t.Context(), 4*time.Second)
				w.awaitReplica(t)
			},
		},
		{
			name: "a server is cut off from Redis", expected: "it serves the last rules",
			happen: func(t *testing.T) { cutOff(t, 10*time.Second, w.servers[1].host) },
		},
		{
			name: "the master is cut off", isFailover: true,
			expected: "the last rules serve until the replica takes over; the old master follows it",
			happen: func(t *testing.T) {
				w.awaitSentinels(t)
				master, _ := w.master(t)
				cutOff(t, 8*time.Second, master.host)
				w.awaitReplica(t)
			},
		},
		{
			name: "all of Redis is killed, and each server", isFailover: true,
			expected: "the last rules serve, and the stored copies after a restart", happen: w.loseAll,
		},
		{
			name: "all keys are flushed, and restored", expected: "the last rules serve meanwhile",
			happen: w.flush,
		},
		{
			name: "Redis' memory is full", expected: "writes and edits are refused; rules serve",
			happen: func(t *testing.T) {
				master, _ := w.master(t)
				master.do(t, "config", "set", "maxmemory", "1mb")
				pause(t.Context(), 2*time.Second)
				w.restartServers(t)
				master.do(t, "config", "set", "maxmemory", "0")
			},
		},
		{
			name: "the disks of the servers' storages are full", happen: w.fillDisks,
			expected: "an error in the log; rules serve, also after a restart",
		},
		{
			name: "the password changes, the new one first", expected: "nothing",
			happen: w.changePassword,
		},
		{
			name:     "the password changes before the servers know it",
			expected: "the last rules serve until they are told",
			happen:   w.withdrawPassword,
		},
	}
}

// loseAll kills all of Redis and, while it is away, all servers.
func (w *watched) loseAll(t *testing.T) {
	nodes := append(w.redis[:], w.sentinels[:]...)
	for _, n := range nodes {
		n.kill()
	}
	w.restartServers(t)
	pause(t.Context(), 3*time.Second)
	for _, n := range nodes {
		n.start(t)
	}
	w.awaitReplica(t)
}

// fillDisks fills up the disks that servers store copies, hits and the history on.
func (w *watched) fillDisks(t *testing.T) {
	for _, s := range w.servers {
		defer fillDisk(t, s.storage)()
	}
	pause(t.Context(), 2*time.Second)
	w.restartServers(t)
}

// flush removes all rules, and restores them at once.
func (w *watched) flush(t *testing.T) {
	w.writing.Lock()
	defer w.writing.Unlock()
	stores, err := w.stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	master, _ := w.master(t)
	master.do(t, "flushall")
	pause(t.Context(), 3*time.Second)
	_, err = w.client.TxPipelined(t.Context(), func(p goredis.Pipeliner) error {
		p.HSet(t.Context(), hashName, stores[1])
		for key, to := range stores[0] {
			p.Set(t.Context(), keyPrefix+key, to, 0)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// changePassword lets servers in with two passwords until all have the new one.
func (w *watched) changePassword(t *testing.T) {
	for _, n := range w.redis {
		n.addUser(t, "first", "second")
	}
	w.configure(t, "second")
	for _, n := range w.redis {
		n.addUser(t, "second")
		n.dropUsers(t)
	}
	pause(t.Context(), 2*time.Second)
}

// withdrawPassword takes the password away that servers have.
func (w *watched) withdrawPassword(t *testing.T) {
	for _, n := range w.redis {
		n.addUser(t, "third")
		n.dropUsers(t)
	}
	pause(t.Context(), 5*time.Second)
	w.configure(t, "third")
}

// configure gives all servers the password.
func (w *watched) configure(t *testing.T, password string) {
	t.Helper()
	for _, s := range w.servers {
		s.sites = sites(w.url(password), "")
		if err := s.reload(); err != nil {
			t.Errorf("%s: %v", s.host, err)
		}
	}
}
