// Package freeport finds ports for servers that tests and measurements start. It imports nothing of
// the module, and no product code imports it.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
)

// width is how many ports below those of outgoing connections are asked.
const width = 12_000

// found are the ports that this process has been given. It is state of the package, as packages of
// tests that know nothing of each other share a process.
var found sync.Map

// Find returns a port of the loopback that nobody listens on, another one each time. The system
// gives it to nobody else, neither for an outgoing connection nor to a listener on port 0.
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

// firstEphemeral returns the first port that the system chooses by itself. Where the system does
// not say, that is the usual one of Linux, which is less than that of others.
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
