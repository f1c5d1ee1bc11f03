package redis

import (
	"errors"
	"testing"
	"time"
)

// untilStored waits until the edge has stored a copy.
func (e *edge) untilStored(t *testing.T) {
	t.Helper()
	for begun := time.Now(); !e.source.copy.storage.Exists(t.Context(), e.source.copy.key); {
		if time.Since(begun) > 5*time.Second {
			t.Fatal("nothing is stored")
		}
		time.Sleep(time.Millisecond) // a storage does not tell
	}
}

// leaveKeysCopy lets an edge leave a copy of what the server holds in a storage, and kills the
// server.
func leaveKeysCopy(t *testing.T, server *realServer, storage string) *edge {
	t.Helper()
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	e.read(t.Context())
	e.watch(t)
	e.untilStored(t)
	e.stop()
	server.kill()
	return e
}

func TestTheStoredCopyOfKeysServesUntilTheServerIsBack(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 2500)
	server.do(t, "mset", "links:docs", "/guide",
		"links:news", `{ "status": 301, "to": "https://example.com/"}`)
	storage := t.TempDir()
	before := leaveKeysCopy(t, server, storage)

	after := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	after.read(t.Context())
	if after.err != nil || len(after.rules) != 2502 || after.rules["news"] != "https://example.com/" {
		t.Fatalf("%d rules, %v", len(after.rules), after.err)
	}
	if after.version != before.version {
		t.Error("the copy has another version than the keys")
	}
	if outage := after.source.Outage(); outage == nil || !outage.StoredCopy {
		t.Errorf("the outage is %+v", outage)
	}
	after.watchUnreachable(t)
	after.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
	server.start(t)
	server.do(t, "set", "links:docs", "/guide/2")
	after.untilLike(t, server, 10*time.Second)
}

func TestKeysThatAreAsTheyWereStoredAreNotReadAgain(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	storage := t.TempDir()
	leaveKeysCopy(t, server, storage)

	after := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	after.read(t.Context())
	server.start(t)
	server.fillKeys(t, 10)
	after.watch(t)
	server.do(t, "set", "links:docs", "/guide")
	after.untilServed(t, "docs", "/guide", time.Second)
	if after.readings() != 1 {
		t.Errorf("%d readings", after.readings())
	}
	if outage := after.source.Outage(); outage != nil {
		t.Errorf("the outage goes on: %v", outage.Err)
	}
}

func TestOnlyKeysThatServeAreStored(t *testing.T) {
	server := startServer(t)
	server.do(t, "set", "links:docs", "/guide")
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.judge = func(rules map[string]string) error {
		if rules["docs"] != "/guide" {
			return errors.New("the host is not allowed")
		}
		return nil
	}
	e.read(t.Context())
	e.watch(t)
	e.untilStored(t)
	server.do(t, "set", "links:docs", "https://evil.test/")
	e.untilRefused(t, "the host is not allowed")
	k := e.source.content.(*keys)
	if err := k.storeRules(t.Context()); !errors.Is(err, errInFlux) {
		t.Errorf("storing rules that are refused: %v", err)
	}
	server.do(t, "set", "links:docs", "/guide")
	e.until(t, "they are good again", time.Second, func(e *edge) bool { return e.err == nil })
	if err := k.storeRules(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnOlderCopyDoesNotReplaceServingKeys(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	storage := t.TempDir()
	e := leaveKeysCopy(t, server, storage)
	if e.read(t.Context()); e.err == nil {
		t.Error("a copy is read though the keys were")
	}
	reloaded := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	reloaded.version = e.version
	reloaded.watchUnreachable(t)
	reloaded.waitForLog(t, "redis cannot be reached; the last good rules go on serving")
	if reloaded.read(t.Context()); reloaded.err == nil {
		t.Error("a copy is read though rules were handed over")
	}
}

func TestACopyOfKeysIsLeftAloneForAMinute(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	storage := t.TempDir()
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	e.read(t.Context())
	e.watch(t)
	e.untilStored(t)
	stored := e.source.copy.storedAt(t.Context())
	server.do(t, "set", "links:docs", "/guide")
	e.untilServed(t, "docs", "/guide", time.Second)
	e.stop()
	again := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, storage)
	again.read(t.Context())
	again.watch(t)
	server.do(t, "set", "links:docs", "/guide/2")
	again.untilServed(t, "docs", "/guide/2", time.Second)
	again.stop()
	if now := e.source.copy.storedAt(t.Context()); !now.Equal(stored) {
		t.Errorf("the copy of %v has been replaced at %v", stored, now)
	}
}
