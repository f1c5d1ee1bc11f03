package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"
)

// scriptedServer is a connection to a Redis server of which a test has the other end in its hand.
type scriptedServer struct {
	net.Conn
	commands *bufio.Reader
}

// listenTo returns a listener that is connected to a scripted server, by client tracking, and the
// names that it hears.
func listenTo(t *testing.T) (*listener, *scriptedServer, <-chan []any) {
	t.Helper()
	ours, theirs := net.Pipe()
	server := &scriptedServer{theirs, bufio.NewReader(theirs)}
	options := &goredis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return ours, nil
		},
		Protocol:                 3,
		DisableIdentity:          true,
		MaintNotificationsConfig: noMaintenanceNotifications(),
	}
	heard := make(chan []any, 10)
	l := &listener{
		subject: subject{prefix: "links"},
		hear:    func(names []any) { heard <- names },
	}
	var err error
	if l.client, err = l.newClient(options); err != nil {
		t.Fatal(err)
	}
	l.pubsub = l.client.Subscribe(t.Context())
	go func() {
		server.answer("hello", "%1\r\n$5\r\nproto\r\n:3\r\n")
		server.answer("client", "+OK\r\n")
		server.answer("ping", "+PONG\r\n")
	}()
	if err := l.connect(t.Context(), l.client); err != nil {
		t.Fatal(err)
	}
	l.connected = true
	return l, server, heard
}

// answer reads commands up to one of a name, and answers that.
func (s *scriptedServer) answer(name, reply string) {
	for {
		line, err := s.commands.ReadString('\n')
		if err != nil {
			return
		}
		if strings.EqualFold(strings.TrimSpace(line), name) {
			break
		}
	}
	for s.commands.Buffered() > 0 { // its arguments
		s.commands.ReadByte()
	}
	fmt.Fprint(s, reply)
}

func TestAPushThatArrivesInTwoHalvesIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, server, heard := listenTo(t)
		ended := make(chan error, 1)
		go func() { ended <- l.run(t.Context()) }()
		const push = ">2\r\n$10\r\ninvalidate\r\n*2\r\n$6\r\nlinks2\r\n$5\r\nlinks\r\n"
		half := strings.Index(push, "$5")
		fmt.Fprint(server, push[:half])
		go server.answer("ping", push[half:]+"+PONG\r\n")
		synctest.Wait()
		time.Sleep(heartbeat + time.Second)
		select {
		case names := <-heard:
			if len(names) != 2 {
				t.Errorf("of the push arrives %v", names)
			}
		case err := <-ended: // after which the whole hash is compared
			ended <- err
		default:
			t.Error("the push is lost, and the listener goes on")
		}
		l.close()
		server.Close()
		<-ended
	})
}

func TestASilentServerIsNoticedWithinTwoHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, server, _ := listenTo(t)
		ended := make(chan error, 1)
		go func() { ended <- l.run(t.Context()) }()
		for range 3 {
			server.answer("ping", "+PONG\r\n")
		}
		hangs := time.Now()
		go server.answer("ping", "")
		if err := <-ended; !strings.Contains(err.Error(), "the server has not answered for 2s") {
			t.Errorf("it ends with %v", err)
		}
		if took := time.Since(hangs); took > 2*heartbeat {
			t.Errorf("it is noticed after %v", took)
		}
		l.close()
		server.Close()
	})
}

func TestAnInvalidationIsHeardIfItIsOfTheHash(t *testing.T) {
	for name, test := range map[string]struct {
		notification []any
		heard        bool
	}{
		"of the hash":                   {[]any{"invalidate", []any{"links2", "links"}}, true},
		"of all keys":                   {[]any{"invalidate", nil}, true},
		"of keys that begin like it":    {[]any{"invalidate", []any{"links2"}}, false},
		"of nothing that can be read":   {[]any{"invalidate"}, false},
		"twice before anybody asks":     {[]any{"invalidate", []any{"links", "links"}}, true},
		"of something that is no text":  {[]any{"invalidate", []any{int64(1)}}, false},
		"of the hash and other entries": {[]any{"invalidate", []any{int64(1), "links"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hash{Source: &Source{Hash: "links"}, changed: newSignal()}
			l := &listener{hear: h.hear}
			for range 2 {
				if err := l.HandlePushNotification(t.Context(), push.NotificationHandlerContext{},
					test.notification); err != nil {
					t.Fatal(err)
				}
			}
			if heard := len(h.changed) == 1; heard != test.heard {
				t.Errorf("heard: %v", heard)
			}
		})
	}
}
