package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// memory is a storage in memory.
type memory struct {
	certmagic.Storage
	mu      sync.Mutex
	entries map[string]string
	stores  int
	fails   error // of storing
	left    int   // operations until it stops to answer, if isDying
	isDying bool
}

func newMemory() *memory { return &memory{entries: map[string]string{}} }

var errDead = errors.New("the server has been killed")

// begin begins an operation.
func (m *memory) begin() (end func(), err error) {
	m.mu.Lock()
	if m.isDying {
		if m.left--; m.left < 0 {
			err = errDead
		}
	}
	return m.mu.Unlock, err
}

func (m *memory) Store(_ context.Context, key string, value []byte) error {
	end, err := m.begin()
	defer end()
	if err == nil {
		err = m.fails
	}
	if err == nil {
		m.entries[key] = string(value)
		m.stores++
	}
	return err
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	end, err := m.begin()
	defer end()
	value, found := m.entries[key]
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return []byte(value), err
}

func (m *memory) Delete(_ context.Context, key string) error {
	end, err := m.begin()
	defer end()
	if err == nil {
		delete(m.entries, key)
	}
	return err
}

func (m *memory) List(_ context.Context, prefix string, _ bool) (names []string, err error) {
	end, err := m.begin()
	defer end()
	for key := range m.entries {
		if strings.HasPrefix(key, prefix+"/") {
			names = append(names, key)
		}
	}
	if err == nil && names == nil {
		err = fs.ErrNotExist
	}
	return names, err
}

// set changes the storage.
func (m *memory) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// names returns the last parts of the names of all entries.
func (m *memory) names() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.entries)) {
		names = append(names, key[strings.LastIndex(key, "/")+1:])
	}
	return names
}

// server is a server that keeps changes in a storage.
type server struct {
	*Store
	t    *testing.T
	end  context.CancelFunc
	logs *observer.ObservedLogs
	// clock is how far the server's clock is ahead.
	clock func() time.Duration
}

// start starts a server.
func start(t *testing.T, in certmagic.Storage, most int) *server {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	core, logs := observer.New(zapcore.DebugLevel)
	s := &server{NewStore("links"), t, end, logs, func() time.Duration { return 0 }}
	s.KeepIn(ctx, in, zap.New(core), most)
	t.Cleanup(s.kill)
	synctest.Wait()
	return s
}

// kill ends a server.
func (s *server) kill() {
	s.end()
	s.End()
}

// digest returns a digest that begins with a name.
func digest(name string) string { return name + strings.Repeat("f", 64-len(name)) }

// changeOf returns a change between the rules of two names.
func changeOf(old, now string) Change {
	return Change{
		Time: time.Now(), Old: digest(old), New: digest(now), Changed: 1,
		First: []FirstKey{{"docs", resolver.ChangeEdited}},
	}
}

// oneKey is the content of a change that changes a key from one name to another.
func oneKey(old, now string) iter.Seq[KeyChange] {
	return slices.Values([]KeyChange{{"docs", text(old), text(now)}})
}

func text(value string) json.RawMessage {
	b, _ := json.Marshal("https://" + value + ".example")
	return b
}

// change records that a server has found a change in its source.
func (s *server) change(old, now string) {
	c := changeOf(old, now)
	c.Time = c.Time.Add(s.clock())
	c.Source = "links.json"
	s.Record(c, oneKey(old, now))
	synctest.Wait()
}

// edit records an edit of a user.
func (s *server) edit(user, old, now string) {
	c := changeOf(old, now)
	c.Time = c.Time.Add(s.clock())
	c.User = user
	s.Record(c, oneKey(old, now))
	synctest.Wait()
}

// wants checks the list of changes, oldest first: who, old and new names.
func (s *server) wants(lines ...string) {
	s.t.Helper()
	all, err := s.List(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, e := range slices.Backward(all) {
		old, now := strings.TrimRight(e.Old, "f"), strings.TrimRight(e.New, "f")
		line := fmt.Sprintf("%s %s %s", e.Who(), old, now)
		if e.Missing != "" {
			line += ": " + e.Missing
		}
		got = append(got, line)
	}
	if !slices.Equal(got, lines) {
		s.t.Errorf("got %q, want %q", got, lines)
	}
}

// wantsWay checks what leads from one name to another.
func (s *server) wantsWay(from, to string, values ...string) {
	s.t.Helper()
	var got []string
	_, err := s.Way(s.t.Context(), digest(from), digest(to), func(k KeyChange) {
		got = append(got, string(k.After))
	})
	if err != nil {
		got = []string{err.Error()}
	}
	for i, value := range values {
		if !strings.Contains(value, " ") {
			values[i] = string(text(value))
		}
	}
	if !slices.Equal(got, values) {
		s.t.Errorf("from %s to %s: got %q, want %q", from, to, got, values)
	}
}
