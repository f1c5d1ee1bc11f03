package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"

	"github.com/caddy-shortlink/shortlink/internal/copies"
	"github.com/caddy-shortlink/shortlink/source"
)

// memoryStorage is a storage in memory, whose clock is that of the test.
type memoryStorage struct {
	certmagic.Storage
	mu       sync.Mutex
	entries  map[string]string
	modified time.Time
	stores   int
	fails    error         // of storing
	hangs    chan struct{} // storing waits for it, if it is not nil
}

func init() { caddy.RegisterModule(new(memoryStorage)) }

func (*memoryStorage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.storage.test_copies", New: func() caddy.Module {
		return &memoryStorage{entries: map[string]string{}}
	}}
}

func (m *memoryStorage) CertMagicStorage() (certmagic.Storage, error) { return m, nil }

func (m *memoryStorage) Store(_ context.Context, key string, value []byte) error {
	if m.hangs != nil {
		<-m.hangs
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.entries[key], m.modified = string(value), time.Now()
		m.stores++
	}
	return m.fails
}

// touch lets the copy be one that has been stored now.
func (m *memoryStorage) touch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.modified = time.Now()
}

// timesStored returns how often copies have been stored.
func (m *memoryStorage) timesStored() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stores
}

// heal lets storing succeed from now on.
func (m *memoryStorage) heal() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = nil
}

func (m *memoryStorage) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, found := m.entries[key]
	if !found {
		return nil, fs.ErrNotExist
	}
	return []byte(entry), nil
}

func (m *memoryStorage) Exists(ctx context.Context, key string) bool {
	_, err := m.Load(ctx, key)
	return err == nil
}

func (m *memoryStorage) Stat(_ context.Context, key string) (certmagic.KeyInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return certmagic.KeyInfo{Key: key, Modified: m.modified}, nil
}

const copyKey = "shortlink/copy.json"

// newCopied returns a source with rules, and a context with the storage of its copy.
func newCopied(t *testing.T, keysAndValues ...string) (*outSource, caddy.Context) {
	t.Helper()
	ctx, err := caddy.ProvisionContext(&caddy.Config{StorageRaw: []byte(`{"module": "test_copies"}`)})
	if err != nil {
		t.Fatal(err)
	}
	s := new(outSource)
	s.name, s.reach.CopyKey = "redis links", copyKey
	s.set(keysAndValues...)
	return s, ctx
}

// inStorage returns the storage of a context.
func inStorage(ctx caddy.Context) *memoryStorage { return ctx.Storage().(*memoryStorage) }

// letPass lets time pass, and what happens in it.
func letPass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wantCopy checks what the stored copy says of a key, and how often it has been stored.
func (m *memoryStorage) wantCopy(t *testing.T, part string, stores int) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.Contains(m.entries[copyKey], part) || m.stores != stores {
		t.Errorf("the copy has been stored %d times, not %d, and is %s", m.stores, stores,
			m.entries[copyKey])
	}
}

func TestAStoredCopyStandsInAtAStartUntilItsSourceCanBeRead(t *testing.T) {
	s, ctx := newCopied(t, "a", two)
	synctest.Test(t, func(t *testing.T) {
		storage := inStorage(ctx)
		storage.entries[copyKey] = `{"a": "` + one + `", "b": {"to": "` + two + `", "exact": true}}`
		storage.modified = time.Now().Add(-time.Hour)
		s.fails = errors.New("connection refused")
		rs, _ := serve(t, Config{Sources: []source.Source{s}, Context: ctx})
		rs.wantServed(t, "a", one, "b", two, "b/c", "pass")
		if _, at := rs.lookUp("a"); at != "redis links" {
			t.Errorf("the rule stands at %s", at)
		}
		outage := s.reach.Outage()
		if outage == nil || !outage.StoredCopy || !outage.CopyTime.Equal(storage.modified) {
			t.Errorf("the outage is %+v", outage)
		}
		letPass(3 * copies.Pause)
		storage.wantCopy(t, one, 0)
		s.fails = nil
		s.sayAll()
		letPass(time.Second)
		rs.wantServed(t, "a", two, "b", "pass")
		letPass(2 * copies.Pause)
		storage.wantCopy(t, two, 1)
	})
}

func TestACopyThatCannotBeReadEitherIsToldOf(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	ctx.Context = t.Context()
	inStorage(ctx).entries[copyKey] = `{"a": `
	s.fails = errors.New("connection refused")
	rs, _ := newRuleset(t, Config{Sources: []source.Source{s}, Context: ctx})
	_, _, err := rs.loadFirst(nil)
	for _, want := range []string{"connection refused; nor can its stored copy: ", "redis links:1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

func TestACopyIsKeptWhenItsSourceFailsOrIsRejected(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		rs, _ := serve(t, Config{Sources: []source.Source{s}, Context: ctx})
		synctest.Wait()
		inStorage(ctx).wantCopy(t, one, 1)
		s.fails = errors.New("connection refused")
		s.sayAll()
		letPass(2 * copies.Pause)
		s.fails = nil
		s.put("a", "/a/x") // which breaks
		s.tell()
		if rs.LastLoad().Err == nil {
			t.Error("nothing is rejected")
		}
		letPass(2 * copies.Pause)
		inStorage(ctx).wantCopy(t, one, 1)
	})
}

func TestTheRulesThatServeArePreferredToAStoredCopyAtAReload(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		config := Config{Sources: []source.Source{s}, SourceJSON: []string{"redis"}, Context: ctx}
		before, _ := serve(t, config)
		synctest.Wait()
		s.put("a", two)
		s.tell() // which is not stored yet
		s.fails = errors.New("connection refused")
		config.Context.Context = t.Context()
		rs, _ := newRuleset(t, config)
		first, last, err := rs.loadFirst(predecessors{{before, before.Serving()}})
		if err != nil {
			t.Fatal(err)
		}
		inStorage(ctx).wantCopy(t, one, 1)
		if rule, _ := first.Ruleset.RuleOf(1, "a"); rule.Value != two || last.Err == nil {
			t.Errorf("a leads to %s, and wrong is %v", rule.Value, last.Err)
		}
	})
}

// changeCopied serves a source until end is called, and changes it when a copy has been stored.
func changeCopied(t *testing.T, s *outSource, ctx caddy.Context) (rs *Ruleset, end func()) {
	t.Helper()
	ending, end := context.WithCancel(t.Context())
	following, _ := serve(t, Config{Sources: []source.Source{s}, Context: ctx})
	last := *following
	last.Context.Context = ending
	last.lasting = outliving(last.Context)
	last.shared.handler.Store(&last)
	synctest.Wait()
	s.put("a", two)
	s.tell()
	return &last, end
}

func TestWhatIsLeftOfACopyIsStoredAtTheEnd(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		rs, end := changeCopied(t, s, ctx)
		inStorage(ctx).wantCopy(t, one, 1)
		end()
		if err := rs.shared.Destruct(); err != nil {
			t.Error(err)
		}
		inStorage(ctx).wantCopy(t, two, 2)
	})
}

func TestAStorageThatHangsHoldsTheEndForTenSeconds(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		rs, end := changeCopied(t, s, ctx)
		inStorage(ctx).hangs = make(chan struct{})
		begun := time.Now()
		end()
		rs.storeLastCopies()
		if took := time.Since(begun); took != lastCopy {
			t.Errorf("it takes %s", took)
		}
		close(inStorage(ctx).hangs)
	})
}

func TestACopyIsStoredOnceAMinuteAtMost(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		_, _ = serve(t, Config{Sources: []source.Source{s}, Context: ctx})
		synctest.Wait()
		for n := range 100 {
			s.put("a", fmt.Sprint(one, n))
			s.tell()
			letPass(3 * time.Second)
		}
		letPass(copies.Pause)
		inStorage(ctx).wantCopy(t, one+"99", 1+5)
		inStorage(ctx).touch() // as another server stores it
		s.put("a", two)
		s.tell()
		letPass(copies.Pause - time.Second)
		inStorage(ctx).wantCopy(t, one, 6)
		letPass(copies.Pause)
		inStorage(ctx).wantCopy(t, two, 7)
	})
}

func TestServersThatShareACopyStoreItOnceAMinuteTogether(t *testing.T) {
	_, ctx := newCopied(t)
	synctest.Test(t, func(t *testing.T) {
		storage := inStorage(ctx)
		storage.touch() // as a server stores it that is not there any more
		for range 5 {
			s := new(outSource)
			s.name, s.reach.CopyKey = "redis links", copyKey
			s.set("a", one)
			_, _ = serve(t, Config{Sources: []source.Source{s}, Context: ctx})
		}
		for range 10 {
			before := storage.timesStored()
			letPass(copies.Pause - time.Second)
			if n := storage.timesStored() - before; n > 1 {
				t.Errorf("the copy is stored %d times in a minute", n)
			}
		}
		if storage.timesStored() == 0 {
			t.Error("the copy is not stored")
		}
	})
}

func TestACopyThatCannotBeStoredIsStoredLater(t *testing.T) {
	s, ctx := newCopied(t, "a", one)
	synctest.Test(t, func(t *testing.T) {
		inStorage(ctx).fails = errors.New("the disk is full")
		_, logs := serve(t, Config{Sources: []source.Source{s}, Context: ctx})
		synctest.Wait()
		said := logs.FilterMessage("storing a copy of the rules of a source failed").All()
		if len(said) != 1 || said[0].ContextMap()["source"] != "redis links" {
			t.Errorf("the records are %v", said)
		}
		inStorage(ctx).heal()
		letPass(2 * copies.Pause)
		inStorage(ctx).wantCopy(t, one, 1)
	})
}
