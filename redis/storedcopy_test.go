package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func TestWithoutServerAndCopyThereIsAnError(t *testing.T) {
	e := newEdge(t, &Source{URL: "unix:///nowhere"}, t.TempDir())
	if e.read(t.Context()); e.err == nil || !strings.Contains(e.err.Error(), "/nowhere") {
		t.Errorf("the error is %v", e.err)
	}
}

// leaveCopy lets an edge leave a copy of what the server holds in a storage, and kills the server.
func leaveCopy(t *testing.T, server *realServer, storage string) *edge {
	t.Helper()
	e := newEdge(t, &Source{URL: server.url("")}, storage)
	e.read(t.Context())
	e.watch(t)
	e.stop()
	server.kill()
	return e
}

func TestTheStoredCopyServesUntilTheServerIsBack(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "/guide", "news",
		`{ "status": 301, "to": "https://example.com/"}`)
	storage := t.TempDir()
	before := leaveCopy(t, server, storage)

	after := newEdge(t, &Source{URL: server.url("")}, storage)
	after.read(t.Context())
	if after.err != nil || after.rules["docs"] != "/guide" ||
		after.rules["news"] != "https://example.com/" {
		t.Fatalf("the rules are %v, the error %v", after.rules, after.err)
	}
	if after.version != before.version {
		t.Error("the copy has another version than the hash")
	}
	said := after.waitForLog(t,
		"redis cannot be read; serving the stored copy of its rules").ContextMap()
	if since, ok := said["stored"].(time.Time); !ok || time.Since(since) > time.Minute {
		t.Errorf("what is logged does not tell since when: %v", said)
	}

	after.watchUnreachable(t)
	after.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
	server.start(t)
	server.do(t, "hset", "links", "docs", "/guide/2")
	after.untilServed(t, "docs", "/guide/2", 10*time.Second)
}

func TestAHashThatHasNotChangedSinceItWasStoredIsNotReadAgain(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	storage := t.TempDir()
	leaveCopy(t, server, storage)

	after := newEdge(t, &Source{URL: server.url("")}, storage)
	after.read(t.Context())
	server.start(t)
	server.fill(t, 10)
	after.watch(t)
	if after.reads != 1 {
		t.Errorf("%d readings", after.reads)
	}
}

func TestOnlyRulesThatServeAreStored(t *testing.T) {
	server := startServer(t)
	storage := t.TempDir()
	server.do(t, "hset", "links", "docs", "/guide")
	before := newEdge(t, &Source{URL: server.url("")}, storage)
	notAllowed := errors.New("the host is not allowed")
	before.judge = func(rules map[string]string) error {
		if rules["docs"] != "/guide" {
			return notAllowed
		}
		return nil
	}
	before.read(t.Context())
	before.watch(t)
	server.do(t, "hset", "links", "docs", "https://evil.test/")
	before.until(t, "the rules are refused", time.Second, func(e *edge) bool {
		return e.err == notAllowed
	})
	before.stop()
	server.kill()

	after := newEdge(t, &Source{URL: server.url("")}, storage)
	if after.read(t.Context()); after.rules["docs"] != "/guide" {
		t.Errorf("the rules are %v, the error %v", after.rules, after.err)
	}
}

func TestAnOlderCopyDoesNotReplaceWhatIsServed(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	storage := t.TempDir()
	e := newEdge(t, &Source{URL: server.url("")}, storage)
	e.read(t.Context())
	e.watch(t)
	e.stop()
	server.kill()
	if e.read(t.Context()); e.err == nil {
		t.Error("a copy is read though the hash was")
	}
	reloaded := newEdge(t, &Source{URL: server.url("")}, storage)
	reloaded.version = e.version
	reloaded.watchUnreachable(t)
	reloaded.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
	if reloaded.read(t.Context()); reloaded.err == nil {
		t.Error("a copy is read though rules were handed over")
	}
}

func TestHashesAndServersHaveCopiesOfTheirOwn(t *testing.T) {
	keys := make(map[string]bool)
	for _, source := range []*Source{
		{Hash: "a"}, {Hash: "b"}, {Hash: "a", URL: "redis://localhost/1"},
		{Hash: "a", URL: "redis://other"},
		{Hash: "a", URL: "unix:///other"}, {Hash: "a", Cluster: true},
		{Hash: "a", URL: "redis://localhost?master_name=m"},
	} {
		keys[newEdge(t, source, t.TempDir()).source.copy.key] = true
	}
	if len(keys) != 7 {
		t.Errorf("7 hashes have %d copies", len(keys))
	}
}

func TestACopyOutlivesAChangeOfPassword(t *testing.T) {
	before := newEdge(t, &Source{URL: "redis://:old@localhost"}, t.TempDir()).source.copy.key
	after := newEdge(t, &Source{URL: "redis://edge:new@localhost"}, t.TempDir()).source.copy.key
	if before != after {
		t.Error("the copy is another one")
	}
}

func TestOfManyOffersTheLastIsStored(t *testing.T) {
	c := newStoredCopy(&certmagic.FileStorage{Path: t.TempDir()}, "address", "links")
	for _, value := range []string{"/1", "/2", "/3"} {
		rules := []resolver.Rule{{Key: "docs", Value: value}}
		c.read = &offer{rules, versionOf(rules)}
		c.judge(true)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c.run(ended, zap.NewNop())
	var rules []resolver.Rule
	_, err := c.load(t.Context(), "redis links", func(rule resolver.Rule) {
		rules = append(rules, rule)
	})
	if err != nil || len(rules) != 1 || rules[0].Value != "/3" ||
		rules[0].Position.String() != "redis links" {
		t.Errorf("%v, %v", rules, err)
	}
}
