package redis

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddy-shortlink/shortlink/rulefile"
)

// The ways in which changes are noticed, each on a server and for a user that leave nothing better.
func eachMeans(t *testing.T, test func(t *testing.T, server *realServer, source *Source)) {
	t.Run("client tracking", func(t *testing.T) {
		server := startServer(t)
		server.addUser(t, "edge", "+client|tracking")
		test(t, server, &Source{URL: server.url("edge")})
	})
	t.Run("keyspace events", func(t *testing.T) {
		server := startServer(t, "--notify-keyspace-events", "KA")
		server.addUser(t, "edge", "+subscribe", "+unsubscribe", "+config|get", "&__keyspace@0__:links")
		test(t, server, &Source{URL: server.url("edge")})
	})
	t.Run("polling", func(t *testing.T) {
		server := startServer(t)
		server.addUser(t, "edge")
		test(t, server, &Source{URL: server.url("edge")})
	})
}

func TestAWrittenRuleIsServedWithinASecondAt10000Rules(t *testing.T) {
	eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
		server.fill(t, 10_000)
		e := startEdge(t, source)
		if by := e.waitForLog(t, "watching redis").ContextMap()["by"]; !strings.HasSuffix(t.Name(), "/"+strings.ReplaceAll(by.(string), " ", "_")) {
			t.Fatalf("it watches by %v", by)
		}
		server.do(t, "hset", "links", "docs", "/guide")
		t.Log(e.untilServed(t, "docs", "/guide", time.Second))
		server.do(t, "hdel", "links", "docs")
		t.Log(e.untilServed(t, "docs", "", time.Second))
		for _, lost := range e.logs.FilterMessageSnippet("cannot be reached").All() {
			t.Errorf("the connection was lost: %v", lost.ContextMap()["error"])
		}
	})
}

func TestAWrittenRuleIsServedAtAMillionRules(t *testing.T) {
	slow(t)
	eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
		server.fill(t, 1_000_000)
		begun := time.Now()
		e := startEdge(t, source)
		t.Log("reading and comparing takes", time.Since(begun))
		server.do(t, "hset", "links", "docs", "/guide")
		// How long it takes is measured by bench/scale, and depends on the machine.
		t.Log(e.untilServed(t, "docs", "/guide", time.Minute))
	})
}

func TestABurstOfChangesIsReadAtOnce(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	e := startEdge(t, &Source{URL: server.url("")})
	for i := range 1000 {
		server.do(t, "hset", "links", "docs", fmt.Sprintf("/guide/%d", i))
	}
	took := e.untilServed(t, "docs", "/guide/999", time.Second)
	if reads := e.readings(); reads > 10 {
		t.Errorf("%d readings for 1000 changes, the last of which was served after %v", reads, took)
	}
}

func TestAChangeOfAnotherKeyIsNotRead(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	e := startEdge(t, &Source{URL: server.url("")})
	server.do(t, "hset", "links-of-others", "docs", "/guide")
	server.do(t, "hset", "links", "docs", "/guide")
	e.untilServed(t, "docs", "/guide", time.Second)
	if reads := e.readings(); reads != 2 {
		t.Errorf("%d readings, not the first and the one for the change", reads)
	}
}

func TestNothingIsReadAgainWhileNothingChanges(t *testing.T) {
	server := startServer(t)
	server.addUser(t, "edge")
	server.do(t, "hset", "links", "docs", "no destination, but text", "bad", "{")
	e := newEdge(t, &Source{URL: server.url("edge"), Poll: "1ms"}, t.TempDir())
	e.read(t.Context()) // which is rejected
	e.watch(t)
	polls := func() int64 { return server.calls(t, "multi") }
	for before := polls(); polls() < before+20; {
	}
	if reads := e.readings(); reads != 1 {
		t.Errorf("%d readings", reads)
	}
}

func TestAChangeOfNoMoreThanATimeIsReadWhereTheHashIsPolled(t *testing.T) {
	server := startServer(t)
	server.addUser(t, "edge")
	server.do(t, "hset", "links", "fair", `{"to": "/fair", "until": "2027-03-01"}`)
	e := newEdge(t, &Source{URL: server.url("edge"), Poll: "1ms"}, t.TempDir())
	e.read(t.Context())
	e.watch(t)
	server.do(t, "hset", "links", "fair", `{"to": "/fair", "until": "2027-03-02"}`)
	e.until(t, "the new time is read", time.Second, func(e *edge) bool { return e.reads == 2 })
}

func TestWhatChangedBetweenReadAndWatchIsRead(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	server.do(t, "hset", "links", "docs", "/guide")
	e.watch(t)
	e.untilServed(t, "docs", "/guide", time.Second)
}

func TestAnotherSourceGoesOnFromTheVersionOfAnEarlierOne(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	before := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	before.read(t.Context())

	after := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	after.version = before.version
	after.watch(t)
	server.do(t, "hset", "links", "docs", "/guide")
	after.untilServed(t, "docs", "/guide", time.Second)
	if after.reads != 1 {
		t.Errorf("%d readings, not only the one for the change", after.reads)
	}
}

func TestAServerThatIsKilledAndComesBackIsReadAgain(t *testing.T) {
	eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
		server.fill(t, 10)
		source.URL = server.url("") // users are forgotten with the server
		e := startEdge(t, source)
		server.kill()
		e.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
		server.start(t)
		server.do(t, "hset", "links", "docs", "/guide")
		e.untilServed(t, "docs", "/guide", 10*time.Second)
		e.waitForLog(t, "redis can be reached again")
		server.do(t, "hset", "links", "docs", "/guide/2")
		e.untilServed(t, "docs", "/guide/2", time.Second)
		if n := e.logs.FilterLevelExact(1).Len(); n != 1 {
			t.Errorf("%d warnings, not one for the loss: %v", n, e.logs.All())
		}
	})
}

func TestConnectionsThatTheServerClosesAreMadeAgain(t *testing.T) {
	eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
		server.fill(t, 10)
		e := startEdge(t, source)
		server.do(t, "client", "kill", "user", "edge", "skipme", "yes")
		server.do(t, "hset", "links", "docs", "/guide")
		e.untilServed(t, "docs", "/guide", time.Second)
		e.waitForLog(t, "redis can be reached again")
		server.do(t, "hset", "links", "docs", "/guide/2")
		e.untilServed(t, "docs", "/guide/2", time.Second)
	})
}

func TestWhatCannotBeServedIsRejectedUntilItIsPutRight(t *testing.T) {
	for name, fault := range map[string]struct {
		commands [][]any
		message  string
	}{
		"the hash is deleted": {[][]any{{"del", "links"}},
			"the Redis hash links is missing or empty"},
		"everything is deleted": {[][]any{{"flushall"}}, "the Redis hash links is missing or empty"},
		"the key is of other type": {[][]any{{"del", "links"}, {"set", "links", "text"}},
			"the Redis key links is not a hash"},
		"a value is bad": {[][]any{{"hset", "links", "docs", `{"to": 1}`}},
			`redis links: key "docs": "to" in the value of "docs" takes a string, not 1`},
	} {
		t.Run(name, func(t *testing.T) {
			eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
				server.fill(t, 10)
				e := startEdge(t, source)
				if e.waitForLog(t, "watching redis").ContextMap()["by"] == "keyspace events" &&
					name == "everything is deleted" {
					return // Redis publishes no event for it
				}
				for _, command := range fault.commands {
					server.do(t, command...)
				}
				e.until(t, "the rejection", 2*time.Second, func(e *edge) bool {
					return e.err != nil && strings.Contains(e.err.Error(), fault.message)
				})
				if len(e.rules) != 10 {
					t.Errorf("%d rules are served, not the ten before", len(e.rules))
				}
				server.do(t, "del", "links")
				server.do(t, "hset", "links", "docs", "/guide")
				e.untilServed(t, "docs", "/guide", 2*time.Second)
			})
		})
	}
}

func TestAllBadValuesAreReportedAtOnce(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "/guide", "a", "{", "b", `{"to": 1}`)
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	if wrong, ok := e.err.(interface{ Unwrap() error }).Unwrap().(rulefile.Errors); !ok ||
		len(wrong) != 2 {
		t.Errorf("the error is %v", e.err)
	}
}

func TestAReadThatFailsIsMadeUpFor(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	server.addUser(t, "edge", "+client|tracking")
	e := startEdge(t, &Source{URL: server.url("edge")})
	server.do(t, "acl", "setuser", "edge", "-hscan")
	server.do(t, "hset", "links", "docs", "/guide")
	e.until(t, "the failure", 2*time.Second, func(e *edge) bool { return e.err != nil })
	server.do(t, "acl", "setuser", "edge", "+hscan")
	e.untilServed(t, "docs", "/guide", 10*time.Second)
}

func TestWatchEndsWithItsContext(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	for name, source := range map[string]*Source{
		"while it listens":     {URL: server.url("")},
		"while it tries again": {URL: "unix:///nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t, source, t.TempDir())
			e.watchUnreachable(t)
			e.until(t, "a connection or none", time.Second, func(e *edge) bool { return e.logs.Len() > 0 })
			begun := time.Now()
			e.stop()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestWhatTheServerDoesNotTellOfIsFoundWithinAMinute(t *testing.T) {
	eachMeans(t, func(t *testing.T, server *realServer, source *Source) {
		server.do(t, "hset", "links", "docs", "/guide")
		server.inDatabase(t, 1).do(t, "hset", "links", "docs", "/guide/2")
		e := newEdge(t, source, t.TempDir())
		e.read(t.Context())
		changes := 0
		w := &watch{source: e.source, changed: func(...string) { changes++ }}
		l, err := source.listenToAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		if _, err := w.compare(t.Context()); err != nil || changes != 0 {
			t.Fatalf("%d changes, %v", changes, err)
		}
		if wait := time.Until(w.due); wait > time.Minute {
			t.Errorf("the next comparison is due in %v", wait)
		}
		server.do(t, "swapdb", 0, 1)
		w.due = time.Now()
		if _, err := w.look(t.Context(), l); err != nil || changes != 1 {
			t.Errorf("%d changes are noticed, %v", changes, err)
		}
	})
}

func TestAServerThatNeitherPushesNorIsPolledIsWarnedOf(t *testing.T) {
	server := startServer(t)
	server.addUser(t, "edge")
	server.fill(t, 10)
	e := newEdge(t, &Source{URL: server.url("edge"), Poll: "off"}, t.TempDir())
	e.read(t.Context())
	e.watchUnreachable(t)
	e.waitForLog(t,
		"redis pushes no changes and is not polled: rules are read when the connection or Caddy starts")
}

func TestASilentConnectionIsKept(t *testing.T) {
	slow(t) // as it takes two heartbeats
	server := startServer(t)
	server.fill(t, 10)
	e := startEdge(t, &Source{URL: server.url("")})
	for before := server.calls(t, "ping"); server.calls(t, "ping") < before+2; {
	}
	server.do(t, "hset", "links", "docs", "/guide")
	e.untilServed(t, "docs", "/guide", time.Second)
	if e.logs.Len() != 1 {
		t.Errorf("it is not one connection from the beginning: %v", e.logs.All())
	}
}

// slow skips a test unless slow ones are asked for.
func slow(t *testing.T) {
	t.Helper()
	if !isSlow() {
		t.Skip("to run this test, set SHORTLINK_SLOW=1")
	}
}

// isSlow reports whether slow tests are asked for.
func isSlow() bool { return os.Getenv("SHORTLINK_SLOW") != "" }
