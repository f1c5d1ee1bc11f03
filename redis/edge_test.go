package redis

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// edge does with a source what a handler does: it reads it, watches it, and reads what has changed
// whenever it is told to.
type edge struct {
	source *Source
	logs   *observer.ObservedLogs
	told   chan struct{} // by Watch
	// pending are the keys that are to be read, and whole tells that everything is to be compared.
	pending map[string]bool
	whole   bool
	stop    func() // ends Watch, and returns when it has ended
	// judge is what the handler of the edge thinks of rules; nil for one that takes anything.
	judge func(rules map[string]string) error

	mu      sync.Mutex
	rules   map[string]string
	version string
	err     error // of the last Read or ReadKeys
	reads   int
	// comparisons is how often everything was read to compare it.
	comparisons int
	changes     int           // how often changes were read
	news        chan struct{} // closed when next there is something read or logged
}

// newEdge returns an edge that has read nothing yet; its storage is in a directory.
func newEdge(t *testing.T, source *Source, storage string) *edge {
	t.Helper()
	root, _ := json.Marshal(map[string]string{"module": "file_system", "root": storage})
	ctx, err := caddy.ProvisionContext(&caddy.Config{StorageRaw: root})
	if err != nil {
		t.Fatal(err)
	}
	if source.Hash == "" {
		source.Hash = "links"
	}
	if err := source.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Cleanup() })
	core, logs := observer.New(zapcore.InfoLevel)
	e := &edge{source: source, logs: logs, told: make(chan struct{}, 1),
		pending: make(map[string]bool), news: make(chan struct{})}
	source.logger = zap.New(core, zap.Hooks(func(zapcore.Entry) error { e.tell(); return nil }))
	return e
}

// startEdge returns an edge that has read the source, which has to succeed, and watches it.
func startEdge(t *testing.T, source *Source) *edge {
	t.Helper()
	e := newEdge(t, source, t.TempDir())
	e.read(t.Context())
	if e.err != nil {
		t.Fatal(e.err)
	}
	e.watch(t)
	return e
}

// read reads the source as it is now.
func (e *edge) read(ctx context.Context) {
	rules := make(map[string]string)
	version, err := e.source.Read(ctx, func(rule resolver.Rule) { rules[rule.Key] = rule.Value })
	e.mu.Lock()
	e.reads++
	e.mu.Unlock()
	e.take(rules, version, err)
}

// hear records what has changed: keys, or perhaps all.
func (e *edge) hear(keys ...string) {
	e.mu.Lock()
	e.whole = e.whole || len(keys) == 0
	for _, key := range keys {
		e.pending[key] = true
	}
	e.mu.Unlock()
	select {
	case e.told <- struct{}{}:
	default:
	}
}

// update reads what has changed, after a comparison where nobody knows that.
func (e *edge) update(ctx context.Context) {
	if !e.source.ByKey() {
		e.read(ctx)
		return
	}
	e.mu.Lock()
	whole := e.whole
	e.whole = false
	e.mu.Unlock()
	if whole && !e.compare(ctx) {
		return
	}
	e.mu.Lock()
	keys := e.pending // what is heard from now on is read the next time
	e.pending = make(map[string]bool)
	e.changes++
	rules := make(map[string]string)
	maps.Copy(rules, e.rules)
	e.mu.Unlock()
	err := e.source.ReadKeys(ctx, slices.Sorted(maps.Keys(keys)),
		func(rule resolver.Rule) { rules[rule.Key] = rule.Value },
		func(key string) { delete(rules, key) })
	if err == nil && len(rules) == 0 { // whether that may be is decided when all is read
		_, err = e.source.Read(ctx, func(resolver.Rule) {})
	}
	if !e.take(rules, e.version, err) {
		e.mu.Lock()
		maps.Copy(e.pending, keys)
		e.mu.Unlock()
	}
}

// compare finds out which keys hold something else than what serves. It reports whether these are
// to be read now.
func (e *edge) compare(ctx context.Context) bool {
	rules := make(map[string]string)
	_, err := e.source.Read(ctx, func(rule resolver.Rule) { rules[rule.Key] = rule.Value })
	if err != nil {
		e.take(nil, "", err)
	}
	defer e.tell()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.comparisons++; err != nil {
		e.whole = true // with the next change
		return false
	}
	for key, value := range rules {
		if e.rules[key] != value {
			e.pending[key] = true
		}
	}
	for key := range e.rules {
		if _, is := rules[key]; !is {
			e.pending[key] = true
		}
	}
	return len(e.pending) > 0 || e.err != nil
}

// take judges what was read, and serves it if it is good.
func (e *edge) take(rules map[string]string, version string, err error) (serves bool) {
	defer e.tell()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil && e.judge != nil {
		err = e.judge(rules)
	}
	if e.err = err; err == nil {
		e.rules, e.version = rules, version
	}
	return err == nil
}

// readings returns how often the source has been read.
func (e *edge) readings() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reads
}

// tell wakes up who waits for something to be read or logged.
func (e *edge) tell() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.news)
	e.news = make(chan struct{})
}

// watch watches the source until the test ends or stops it, and returns when it has been compared
// once.
func (e *edge) watch(t *testing.T) {
	t.Helper()
	e.watchUnreachable(t)
	e.waitForLog(t, "watching redis")
	if e.source.ByKey() {
		e.until(t, "the first comparison", 10*time.Second, func(e *edge) bool {
			return e.comparisons > 0
		})
	}
}

// watchUnreachable watches a source that need not be there.
func (e *edge) watchUnreachable(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if e.source.ByKey() {
			e.source.WatchKeys(ctx, e.hear)
		} else {
			e.source.Watch(ctx, e.version, func() { e.hear() })
		}
	})
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-e.told:
				e.update(ctx)
			}
		}
	})
	e.stop = func() { cancel(); running.Wait() }
	t.Cleanup(e.stop)
}

// until waits until what the edge has read meets a condition, and returns how long that took.
func (e *edge) until(t *testing.T, what string, within time.Duration,
	met func(e *edge) bool) time.Duration {
	t.Helper()
	begun := time.Now()
	timeout := time.After(within)
	for {
		e.mu.Lock()
		ok, news := met(e), e.news
		err, reads := e.err, e.reads
		e.mu.Unlock()
		if ok {
			return time.Since(begun)
		}
		select {
		case <-news:
		case <-timeout:
			t.Fatalf("%s: not within %v; after %d readings, the last with the error %v; logged: %v", what,
				within, reads, err, e.logs.All())
		}
	}
}

// untilServed waits until a key has a value.
func (e *edge) untilServed(t *testing.T, key, value string, within time.Duration) time.Duration {
	t.Helper()
	return e.until(t, key+" is served", within, func(e *edge) bool { return e.rules[key] == value })
}

// waitForLog waits until something has been logged.
func (e *edge) waitForLog(t *testing.T, message string) observer.LoggedEntry {
	t.Helper()
	e.until(t, message, 10*time.Second, func(e *edge) bool {
		return e.logs.FilterMessage(message).Len() > 0
	})
	return e.logs.FilterMessage(message).All()[0]
}
