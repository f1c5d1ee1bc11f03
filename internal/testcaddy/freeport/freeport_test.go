package freeport

import (
	"fmt"
	"net"
	"testing"
)

func TestAPortIsFreeAndNoneThatTheSystemGivesAway(t *testing.T) {
	before := map[int]bool{}
	for range 100 {
		port, err := Find()
		if err != nil {
			t.Fatal(err)
		}
		if port < 1024 || port >= firstEphemeral() {
			t.Fatalf("the port %d is not below %d", port, firstEphemeral())
		}
		if before[port] {
			t.Fatalf("the port %d is found twice", port)
		}
		before[port] = true
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
