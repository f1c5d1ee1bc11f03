package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// plainSource is a source in memory that can be edited, whose rules stand on lines of their own.
type plainSource struct {
	name    string
	mu      sync.Mutex
	rules   []resolver.Rule
	version int
	reads   int
	fails   error // of reading
	changed func()
	// beforeEdit is called at the beginning of an edit.
	beforeEdit func()
}

func (s *plainSource) String() string { return s.name }

// setLines gives the rules their lines.
func (s *plainSource) setLines() {
	for i := range s.rules {
		s.rules[i].Position = resolver.Position{Source: s.name, Line: i + 1}
	}
}

// set sets keys and values, in turn, as somebody does whom Caddy does not know.
func (s *plainSource) set(keysAndValues ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
	for pair := range slices.Chunk(keysAndValues, 2) {
		s.rules = append(s.rules, resolver.Rule{Key: pair[0], Value: pair[1]})
	}
	s.version++
	s.setLines()
}

// tell tells that the source has changed, and waits until that has been followed.
func (s *plainSource) tell() {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	changed()
	synctest.Wait()
}

func (s *plainSource) now() string { return fmt.Sprint("version ", s.version) }

func (s *plainSource) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	for _, rule := range s.rules {
		add(rule)
	}
	if s.fails != nil {
		return "", s.fails
	}
	return s.now(), nil
}

func (s *plainSource) Remarks() source.Remarks { return source.Remarks{} }

func (s *plainSource) Locate(
	_ context.Context, version string, seen func(resolver.Rule),
) (isThere bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		seen(rule)
	}
	return version == s.now()
}

func (s *plainSource) Watch(ctx context.Context, _ string, changed func()) {
	s.mu.Lock()
	s.changed = changed
	s.mu.Unlock()
	<-ctx.Done()
}

func (s *plainSource) Writable() error { return nil }

func (*plainSource) Written(resolver.Rule) (string, error) { return "", nil }

func (s *plainSource) Edit(_ context.Context, version string, edit rulefile.Edit) (string, error) {
	return "", s.edit(version, edit)
}

func (s *plainSource) edit(version string, edit rulefile.Edit) error {
	if s.beforeEdit != nil {
		s.beforeEdit()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if version != s.now() {
		return source.ErrChanged
	}
	for _, change := range edit.Changes {
		if err := s.change(change); err != nil {
			return err
		}
	}
	s.version++
	s.setLines()
	return nil
}

// change makes a change of an edit.
func (s *plainSource) change(change rulefile.Change) error {
	at := slices.IndexFunc(s.rules, func(rule resolver.Rule) bool { return rule.Key == change.Key })
	was := at >= 0
	switch {
	case was != (change.Was != nil) || was && change.Was.Value != s.rules[at].Value:
		return fmt.Errorf("the edit takes %v for what was there", change.Was)
	case change.Rule == nil:
		s.rules = slices.Delete(s.rules, at, at+1)
	case was:
		s.rules[at] = *change.Rule
	default:
		s.rules = slices.Insert(s.rules, 0, *change.Rule) // which moves all others
	}
	return nil
}

// rewritingSource tells what has become of it by an edit.
type rewritingSource struct{ plainSource }

func (s *rewritingSource) Edit(
	_ context.Context, version string, edit rulefile.Edit,
) (string, error) {
	if err := s.edit(version, edit); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now(), nil
}

// changingSource knows what has changed, and where its rules stand does not matter.
type changingSource struct {
	plainSource
	changes  map[string]bool
	keyReads int
	unknown  bool // it does not know
	all      func(keys ...string)
	// afterRead is called at the end of a reading of everything, and afterKeys of some keys.
	afterRead, afterKeys func()
}

func (s *changingSource) ByKey() bool { return true }

func (s *changingSource) WatchKeys(ctx context.Context, changed func(keys ...string)) {
	s.mu.Lock()
	s.all = changed
	s.changed = func() {
		s.mu.Lock()
		keys := slices.Collect(maps.Keys(s.changes))
		if s.changes = nil; s.unknown {
			s.unknown, keys = false, nil
		}
		s.mu.Unlock()
		changed(keys...)
	}
	s.mu.Unlock()
	<-ctx.Done()
}

func (s *changingSource) ReadKeys(_ context.Context, keys []string, set func(resolver.Rule),
	remove func(string)) error {
	if s.afterKeys != nil {
		defer s.afterKeys()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keyReads++
	for _, key := range keys {
		is := func(rule resolver.Rule) bool { return rule.Key == key }
		if at := slices.IndexFunc(s.rules, is); at >= 0 {
			rule := s.rules[at]
			rule.Position.Line = 0
			set(rule)
		} else {
			remove(key)
		}
	}
	return s.fails
}

func (s *changingSource) Locate(context.Context, string, func(resolver.Rule)) bool { return false }

func (s *changingSource) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	if s.afterRead != nil {
		defer s.afterRead()
	}
	return s.plainSource.Read(ctx, func(rule resolver.Rule) {
		rule.Position.Line = 0
		add(rule)
	})
}

// Edit compares the rules of the edit's keys, and no others.
func (s *changingSource) Edit(
	_ context.Context, _ string, edit rulefile.Edit,
) (string, error) {
	for _, change := range edit.Changes {
		is := func(rule resolver.Rule) bool {
			return change.Was != nil && rule.Key == change.Key && rule.Value == change.Was.Value
		}
		if change.Was != nil && !slices.ContainsFunc(s.rules, is) {
			return "", source.ErrChanged
		}
	}
	err := s.edit(s.now(), edit)
	return s.now(), err
}

// put changes the rule of a key, empty for none, as somebody does whom Caddy does not know.
func (s *changingSource) put(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == nil {
		s.changes = map[string]bool{}
	}
	s.rules = slices.DeleteFunc(s.rules, func(rule resolver.Rule) bool { return rule.Key == key })
	s.changes[key] = true
	if value != "" {
		rule := resolver.Rule{Key: key, Value: value, Position: resolver.Position{Source: s.name}}
		s.rules = append(s.rules, rule)
	}
	s.version++
}

// serve lets rules of sources serve, and follows these.
func serve(t *testing.T, config Config) (*Ruleset, *observer.ObservedLogs) {
	t.Helper()
	config.Context.Context = t.Context()
	return start(t, config)
}

// start is serve for a configuration that has a context.
func start(t *testing.T, config Config) (*Ruleset, *observer.ObservedLogs) {
	t.Helper()
	rs, logs := newRuleset(t, config)
	first, err := rs.newLoading(t.Context(), nil).load() // whose rules rest for nobody
	last := &LastLoad{}
	if err != nil {
		first, last, err = rs.loadFirst(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if rs.shared, err = newShared(t.Name(), first, last); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rs.shared.Destruct() }) // which has nothing to store
	rs.lasting = outliving(rs.Context)
	go rs.run(nil)
	return rs, logs
}

// newRuleset returns a ruleset that has not been loaded yet.
func newRuleset(t *testing.T, config Config) (*Ruleset, *observer.ObservedLogs) {
	t.Helper()
	rs := New(config)
	core, logs := observer.New(zapcore.DebugLevel)
	rs.logger = zap.New(core)
	events := new(caddyevents.App)
	rs.reporter = newReporter(rs, events)
	if err := events.Provision(rs.Context); err != nil {
		t.Fatal(err)
	}
	return rs, logs
}

// apply sets the value of a key, or removes it where that is empty.
func (rs *Ruleset) apply(ctx context.Context, key, value string) error {
	_, err := rs.Apply(ctx, edit(key, value))
	return err
}

// lookUp returns where a key leads, and where its rule stands.
func (rs *Ruleset) lookUp(key string) (destination, position string) {
	req, _ := resolver.ParseRequest("https://go.example/" + key)
	serving := rs.Serving()
	e := serving.Ruleset.Explain(req)
	if len(e.Walk) > 0 {
		rs.Locate(rs.Context, serving, &e.Walk[0].Rule)
		position = e.Walk[0].Rule.Position.String()
	}
	return cmp.Or(e.Destination, e.Outcome.String()), position
}

// wantServed checks keys and where they lead, in turn.
func (rs *Ruleset) wantServed(t *testing.T, keysAndDestinations ...string) {
	t.Helper()
	for pair := range slices.Chunk(keysAndDestinations, 2) {
		if got, _ := rs.lookUp(pair[0]); got != pair[1] {
			t.Errorf("%s leads to %s, want %s", pair[0], got, pair[1])
		}
	}
}
