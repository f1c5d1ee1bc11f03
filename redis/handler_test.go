package redis_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/redis"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// handler is the rules of a handler in a bubble of time of its own: whoever changes its sources
// calls settle, and sees what serves then.
type handler struct {
	*live.Ruleset
	end func()
}

// provisioned is a source that Caddy has to provision.
type provisioned interface {
	source.Source
	caddy.Provisioner
}

// caddyWith returns a context of a configuration with a storage, whose events have started.
func caddyWith(t *testing.T, storage *memory) caddy.Context {
	t.Helper()
	storages.Store(storage.name, storage)
	raw, _ := json.Marshal(map[string]string{"module": "test_redis_memory", "name": storage.name})
	ctx, err := caddy.ProvisionContext(&caddy.Config{
		Admin:      &caddy.AdminConfig{Disabled: true},
		StorageRaw: raw,
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {
			BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output":"discard"}`)},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := ctx.App("events")
	if err != nil {
		t.Fatal(err)
	}
	if err := events.(*caddyevents.App).Start(); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// startHandler starts a handler with sources that have not been provisioned.
func startHandler(
	t *testing.T, whole caddy.Context, config live.Config, sources ...provisioned,
) *handler {
	t.Helper()
	ctx, cancel := caddy.NewContext(whole)
	for _, from := range sources {
		if err := from.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		config.Sources = append(config.Sources, from)
	}
	config.Context = ctx
	h := &handler{Ruleset: live.New(config)}
	h.end = func() {
		cancel()
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
		for _, from := range sources {
			if server, is := from.(*dialled); is {
				if err := server.Cleanup(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	return h
}

// settleTime is how long every change takes at most to be served, or to be refused.
const settleTime = 10 * time.Second

// settle returns when everything that has happened must have been dealt with. Within a bubble that
// takes no time.
func settle() {
	time.Sleep(settleTime)
	synctest.Wait()
}

// dialled is a source that reaches its server within the process.
type dialled struct {
	*redis.Source
	server *fakeServer
}

// sourceOn returns a source of rules on a server.
func sourceOn(server *fakeServer, hash string) *dialled {
	return &dialled{&redis.Source{Hash: hash, Poll: "1s"}, server}
}

// Provision also says how the server is reached.
func (s *dialled) Provision(ctx caddy.Context) error {
	err := s.Source.Provision(ctx)
	if err == nil {
		s.DialWith(s.server.dial)
	}
	return err
}

// memory is a storage within the process, which a test can cut off.
type memory struct {
	name    string
	mu      sync.Mutex
	entries map[string][]byte
	times   map[string]time.Time
	locked  map[string]chan struct{}
	isCut   bool
}

func newMemory(name string) *memory {
	return &memory{name: name, entries: map[string][]byte{}, times: map[string]time.Time{},
		locked: map[string]chan struct{}{}}
}

// storages are the memories by name.
var storages sync.Map

// memoryModule is a memory as a module of Caddy.
type memoryModule struct {
	Name string `json:"name"`
}

func init() { caddy.RegisterModule(new(memoryModule)) }

func (*memoryModule) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.test_redis_memory", New: func() caddy.Module {
		return new(memoryModule)
	}}
}

func (m *memoryModule) CertMagicStorage() (certmagic.Storage, error) {
	storage, _ := storages.Load(m.Name)
	return storage.(*memory), nil
}

var errCut = errors.New("the network is cut")

// do does something with the entries, unless the storage is cut off.
func (m *memory) do(change func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isCut {
		return errCut
	}
	return change()
}

// cut cuts the storage off, or ends that.
func (m *memory) cut(isCut bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isCut = isCut
}

func (m *memory) Lock(ctx context.Context, name string) error {
	for {
		m.mu.Lock()
		other, isLocked := m.locked[name]
		if !isLocked {
			m.locked[name] = make(chan struct{})
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memory) Unlock(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.locked[name])
	delete(m.locked, name)
	return nil
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	return m.do(func() error {
		m.entries[key], m.times[key] = slices.Clone(value), time.Now()
		return nil
	})
}

func (m *memory) Load(_ context.Context, key string) (value []byte, err error) {
	return value, m.do(func() error {
		entry, there := m.entries[key]
		if !there {
			return fs.ErrNotExist
		}
		value = slices.Clone(entry)
		return nil
	})
}

func (m *memory) Delete(_ context.Context, key string) error {
	return m.do(func() error {
		maps.DeleteFunc(m.entries, func(other string, _ []byte) bool {
			return other == key || strings.HasPrefix(other, key+"/")
		})
		return nil
	})
}

func (m *memory) Exists(_ context.Context, key string) (exists bool) {
	_ = m.do(func() error {
		_, exists = m.entries[key]
		return nil
	})
	return exists
}

func (m *memory) List(_ context.Context, path string, _ bool) (keys []string, err error) {
	return keys, m.do(func() error {
		for key := range m.entries {
			if strings.HasPrefix(key, path+"/") {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return nil
	})
}

func (m *memory) Stat(_ context.Context, key string) (info certmagic.KeyInfo, err error) {
	return info, m.do(func() error {
		entry, there := m.entries[key]
		if !there {
			return fs.ErrNotExist
		}
		info = certmagic.KeyInfo{
			Key: key, Modified: m.times[key], Size: int64(len(entry)), IsTerminal: true,
		}
		return nil
	})
}

// rulesOf are the rules of a source that serve, by key and without their places.
func rulesOf(ruleset *resolver.Ruleset, n int) map[string]resolver.Rule {
	rules := map[string]resolver.Rule{}
	for rule := range ruleset.RulesOf(n) {
		rule.Position = resolver.Position{}
		rules[rule.Key] = rule
	}
	return rules
}
