package redis

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy/freeport"
)

// realServer is a redis-server of a test's own, in a directory of its own.
type realServer struct {
	socket string
	args   []string
	cmd    *exec.Cmd
	client *goredis.Client // of a user who may do anything
}

// startServer starts a redis-server that listens on a Unix socket, until the test ends.
func startServer(t *testing.T, args ...string) *realServer {
	t.Helper()
	s := &realServer{socket: filepath.Join(shortTempDir(t), "socket"), args: args}
	s.start(t)
	s.client = goredis.NewClient(&goredis.Options{Network: "unix", Addr: s.socket})
	t.Cleanup(func() {
		s.client.Close()
		s.kill()
	})
	return s
}

// shortTempDir returns a directory whose name leaves room for a socket's.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// start starts the server, anew if it was killed.
func (s *realServer) start(t *testing.T) {
	t.Helper()
	s.cmd = run(t,
		append([]string{"--port", "0", "--unixsocket", s.socket, "--dir", filepath.Dir(s.socket),
			"--save", ""}, s.args...)...)
}

// run starts redis-server and returns when it is ready.
func run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("SHORTLINK_REDIS_SERVER")
	if program == "" {
		t.Skip("to run this test, set SHORTLINK_REDIS_SERVER to a redis-server: apt-get install " +
			"redis-server, then SHORTLINK_REDIS_SERVER=redis-server")
	}
	cmd := exec.Command(program, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "eady to accept connections") ||
			strings.Contains(lines.Text(), "Sentinel ID is") {
			go func() { // a full pipe would stop it
				for lines.Scan() {
				}
			}()
			return cmd
		}
	}
	cmd.Wait()
	t.Fatalf("redis-server does not start:\n%s", &said)
	return nil
}

// kill ends the server at once.
func (s *realServer) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// url returns a URL for a user; "" stands for the one who may do anything.
func (s *realServer) url(user string) string {
	if user != "" {
		user += ":secret@"
	}
	return "unix://" + user + s.socket
}

// do runs a command, which has to succeed.
func (s *realServer) do(t *testing.T, args ...any) {
	t.Helper()
	if err := s.client.Do(context.Background(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// fill puts n rules into the hash links.
func (s *realServer) fill(t *testing.T, n int) {
	t.Helper()
	ctx := context.Background()
	for from := 0; from < n; from += 10_000 {
		args := []any{"hset", "links"}
		for i := from; i < min(from+10_000, n); i++ {
			args = append(args, fmt.Sprintf("key-%07d", i),
				fmt.Sprintf("https://example.com/some/longer/path/to/the/page/%d", i))
		}
		if err := s.client.Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// inDatabase returns the same server; its client uses another database.
func (s *realServer) inDatabase(t *testing.T, db int) *realServer {
	other := *s
	other.client = goredis.NewClient(&goredis.Options{Network: "unix", Addr: s.socket, DB: db})
	t.Cleanup(func() { other.client.Close() })
	return &other
}

// addUser adds a user who may do no more than reading the hash links, and what else is allowed.
func (s *realServer) addUser(t *testing.T, name string, allowed ...any) {
	t.Helper()
	s.do(t, append([]any{"acl", "setuser", name, "on", ">secret", "~links",
		"+hlen", "+hscan", "+watch", "+unwatch", "+multi", "+exec", "+ping"}, allowed...)...)
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// calls returns how often a command was called.
func (s *realServer) calls(t *testing.T, command string) (calls int64) {
	t.Helper()
	stats, err := s.client.Info(context.Background(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stats) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			fmt.Sscan(strings.SplitN(rest, ",", 2)[0], &calls)
		}
	}
	return calls
}
