package redis

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink"
)

func TestAnOutageOfTheServerIsToldUntilItIsBack(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	e := startEdge(t, &Source{URL: server.url("")})
	if outage := e.source.reach.Outage(); outage != nil {
		t.Fatalf("there is an outage before it: %v", outage.Err)
	}
	before := time.Now()
	server.kill()
	e.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
	outage := e.source.reach.Outage()
	if outage == nil || outage.Since.Before(before) || outage.StoredCopy {
		t.Fatalf("the outage is %+v", outage)
	}
	e.until(t, "the rejection", 10*time.Second, func(e *edge) bool { return e.err != nil })
	if now := e.source.reach.Outage(); !now.Since.Equal(outage.Since) {
		t.Errorf("it is said to have begun at %v and at %v", outage.Since, now.Since)
	}
	server.start(t)
	server.fill(t, 10) // the same rules
	e.until(t, "the end of the rejection", 20*time.Second, func(e *edge) bool { return e.err == nil })
	if outage := e.source.reach.Outage(); outage != nil {
		t.Errorf("it goes on: %v", outage.Err)
	}
}

func TestAnOutageFromBeforeAReloadLastsUntilTheServerIsRead(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	server.kill()
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	before := shortlink.Outage{Since: time.Now().Add(-time.Hour), Err: errors.New("cut off")}
	e.source.reach.Continue(&before)
	e.read(t.Context())
	if now := e.source.reach.Outage(); !now.Since.Equal(before.Since) || now.Err.Error() == "cut off" {
		t.Errorf("it lasts since %s: %v", now.Since, now.Err)
	}
	server.start(t)
	server.fill(t, 10)
	e.read(t.Context())
	if now := e.source.reach.Outage(); now != nil {
		t.Errorf("it lasts though the server was read: %v", now.Err)
	}
}

// Then the handler goes on with the rules of another one, and says that it could not load.
func TestAServerThatWasGoneAtTheStartIsReadWhenItIsBack(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	before := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	before.read(t.Context())
	server.kill()
	after := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	after.read(t.Context())
	after.version = before.version
	server.start(t)
	server.fill(t, 10)
	after.watch(t)
	after.until(t, "the rules are read", time.Second, func(e *edge) bool { return e.err == nil })
}

func TestTheHandlerIsToldOnceOfAnOutageThatLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, new(Source), t.TempDir())
		changes := 0
		w := &watch{source: e.source, changed: func(...string) { changes++ }}
		w.lose(errors.New("connection refused"))
		if changes != 0 {
			t.Error("it is told at once, also of a server that is just restarted")
		}
		for range 3 {
			time.Sleep(grace)
			w.lose(errors.New("connection refused"))
		}
		if changes != 1 || e.logs.Len() != 1 {
			t.Errorf("it is told %d times, and %d lines are logged", changes, e.logs.Len())
		}
	})
}
