// Package freeport finds ports for servers of tests and benchmarks. It imports no package of the
// module, and no product code imports it.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
)

// width is the number of candidate ports below the ephemeral ports.
const width = 12_000

// found holds the ports that this process has received. It is global because unrelated test
// packages share a process.
var found sync.Map

// Find returns an unused loopback port, a new one each time. The system assigns this port neither
// to an outgoing connection nor to a listener on port 0.
func Find() (int, error) {
	end := firstEphemeral()
	for range 100 {
		port := end - 1 - rand.IntN(width)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		l.Close()
		if _, again := found.LoadOrStore(port, true); !again {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port of 127.0.0.1 below %d is free", end)
}

// firstEphemeral returns the first ephemeral port. If the system does not report one, it returns
// Linux's default, which is the lowest.
func firstEphemeral() (port int) {
	const usual, least = 32768, width + 1024
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return usual
	}
	if _, err := fmt.Sscan(string(text), &port); err != nil || port < least {
		return usual
	}
	return port
}
