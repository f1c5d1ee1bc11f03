//go:build unix

package redis

import (
	"syscall"
	"testing"
)

// Only Unix has a signal that lets a server hang.
func TestAServerThatHangsIsNoticed(t *testing.T) {
	slow(t) // as it takes two heartbeats
	server := startServer(t)
	server.fill(t, 10)
	e := startEdge(t, &Source{URL: server.url("")})
	if err := server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	e.until(t, "the loss", 4*heartbeat, func(e *edge) bool {
		return e.logs.FilterMessage(
			"redis cannot be reached; the last good rules go on serving").Len() > 0
	})
	if err := server.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	server.do(t, "hset", "links", "docs", "/guide")
	e.untilServed(t, "docs", "/guide", 4*heartbeat)
}
