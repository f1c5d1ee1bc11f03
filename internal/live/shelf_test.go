package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/caddyserver/caddy/v2"
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
	judged  []error
	// beforeEdit is called at the beginning of an edit.
	beforeEdit func()
}

func (s *plainSource) String() string { return s.name }

// place gives the rules their lines.
func (s *plainSource) place() {
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
	s.place()
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

func (s *plainSource) Judge(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judged = append(s.judged, err)
}

func (s *plainSource) Writable() error { return nil }

func (s *plainSource) Edit(_ context.Context, version string, edit rulefile.Edit) error {
	if s.beforeEdit != nil {
		s.beforeEdit()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if version != s.now() {
		return source.ErrChanged
	}
	at := slices.IndexFunc(s.rules, func(rule resolver.Rule) bool { return rule.Key == edit.Key })
	was := at >= 0
	switch {
	case was != (edit.Was != nil) || was && edit.Was.Value != s.rules[at].Value:
		return fmt.Errorf("the edit takes %v for what was there", edit.Was)
	case edit.Rule == nil:
		s.rules = slices.Delete(s.rules, at, at+1)
	case was:
		s.rules[at] = *edit.Rule
	default:
		s.rules = slices.Insert(s.rules, 0, *edit.Rule) // which moves all others
	}
	s.version++
	s.place()
	return nil
}

// rewritingSource tells what has become of it by an edit.
type rewritingSource struct{ plainSource }

func (s *rewritingSource) Rewrite(ctx context.Context, version string, edit rulefile.Edit,
	add func(resolver.Rule)) (string, error) {
	if err := s.Edit(ctx, version, edit); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		add(rule)
	}
	return s.now(), nil
}

// changingSource knows what has changed, and where its rules stand does not matter.
type changingSource struct {
	plainSource
	changes map[string]*resolver.Rule
	unknown bool // it does not know
}

func (s *changingSource) ReadChanges(_ context.Context, set func(resolver.Rule),
	remove func(string)) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknown {
		s.unknown = false
		return "", source.ErrUnknownChanges
	}
	for key, rule := range s.changes {
		if rule == nil {
			remove(key)
		} else {
			set(*rule)
		}
	}
	if s.fails != nil {
		return "", s.fails
	}
	s.changes = nil
	return s.now(), nil
}

func (s *changingSource) Rewrite(ctx context.Context, version string, edit rulefile.Edit,
	_ func(resolver.Rule)) (string, error) {
	err := s.Edit(ctx, version, edit)
	return s.now(), err
}

// put changes the rule of a key, empty for none, as somebody does whom Caddy does not know.
func (s *changingSource) put(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == nil {
		s.changes = map[string]*resolver.Rule{}
	}
	s.rules = slices.DeleteFunc(s.rules, func(rule resolver.Rule) bool { return rule.Key == key })
	s.changes[key] = nil
	if value != "" {
		rule := resolver.Rule{Key: key, Value: value, Position: resolver.Position{Source: s.name}}
		s.rules, s.changes[key] = append(s.rules, rule), &rule
	}
	s.version++
}

// serve lets rules of sources serve, and follows these.
func serve(t *testing.T, config Config) (*Ruleset, *observer.ObservedLogs) {
	t.Helper()
	config.Context = caddy.Context{Context: t.Context()}
	rs := New(config)
	core, logs := observer.New(zapcore.DebugLevel)
	rs.logger, rs.events = zap.New(core), new(caddyevents.App)
	if err := rs.events.Provision(rs.Context); err != nil {
		t.Fatal(err)
	}
	first, err := rs.load(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if rs.shared, err = newShared(t.Name(), first, &lastLoad{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rs.shared.Destruct() }) // which has nothing to store
	go rs.follow(rs.watch())
	return rs, logs
}

// apply sets the value of a key, or removes it where that is empty.
func (rs *Ruleset) apply(ctx context.Context, key, value string) error {
	e := &Edit{Key: key}
	if value != "" {
		e.Rule = &resolver.Rule{Key: key, Value: value}
	}
	_, err := rs.Apply(ctx, e)
	return err
}

// lookUp returns where a key leads, and where its rule stands.
func (rs *Ruleset) lookUp(key string) (destination, position string) {
	req, _ := resolver.ParseRequest("https://go.example/" + key)
	serving := rs.Serving()
	e := serving.Ruleset.Explain(req)
	rs.LocateExplained(rs.Context, serving, &e)
	if len(e.Walk) > 0 {
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
