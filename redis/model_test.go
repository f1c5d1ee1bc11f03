package redis_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// Whatever happens to a handler and to its sources, it serves what one serves that starts with what
// the sources hold or, where that is bad or out of reach, held when all of it was good.
func TestWhatServesIsWhatAStartWouldServe(t *testing.T) {
	seeds, steps := uint64(8), 60
	if os.Getenv("SHORTLINK_SLOW") != "" {
		seeds, steps = 200, 150
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { newModel(t, seed).run(steps) })
		if t.Failed() {
			return
		}
	}
}

// model is a handler with a source of each kind, and what it has to serve.
type model struct {
	t                           *testing.T
	r                           *rand.Rand
	whole                       caddy.Context
	kept                        []*kept // the sources, in their order
	handler                     *handler
	serves                      *resolver.Ruleset // what has to serve
	done                        []string          // what has happened
	refused, accepted, rejected int
}

// kept are the rules that a source holds, and how a test changes them there.
type kept struct {
	name   string
	rules  map[string]resolver.Rule
	fault  string // why they cannot be read, "" if they can
	needed bool   // there is no such source without rules
	faults []string

	newSource func() provisioned
	// write puts the rules and the fault where the source reads them, instead of others.
	write func(before kept)
	// read reads them there, where there is no fault.
	read   func() map[string]resolver.Rule
	server *fakeServer // that the source asks, nil for none
}

// inline are the rules of the configuration itself.
var inline = []resolver.Rule{
	{Key: "home", Value: "https://home.example/"}, {Key: "in/deep", Value: "/a"},
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, r: rand.New(rand.NewPCG(seed, 24))}
	m.note("seed %d", seed)
	storage := newMemory(fmt.Sprint("model ", seed))
	m.whole = caddyWith(t, storage)
	m.kept = []*kept{m.file(), m.entry(storage), m.hash(), m.keys()}
	m.r.Shuffle(len(m.kept), func(i, j int) { m.kept[i], m.kept[j] = m.kept[j], m.kept[i] })
	for i, k := range m.kept {
		m.note("source %d is %s", i+1, k.name)
		k.rules = map[string]resolver.Rule{}
		for n := range 3 {
			rule := resolver.Rule{Key: fmt.Sprintf("own%d%d", i, n), Value: "https://own.example/"}
			k.rules[rule.Key] = rule
		}
		k.write(kept{})
	}
	t.Cleanup(m.end)
	m.handler = m.start()
	m.serves, _ = m.compile(nil)
	return m
}

// note records what happens, for whoever looks for the reason of a failure.
func (m *model) note(format string, args ...any) {
	m.done = append(m.done, fmt.Sprintf(format, args...))
}

func (m *model) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(m.done, "\n"))
}

// start starts a handler.
func (m *model) start() *handler {
	config := live.Config{Name: m.done[0], Identity: m.done[0], Rules: inline, Options: m.options()}
	var sources []provisioned
	for _, k := range m.kept {
		sources = append(sources, k.newSource())
		config.SourceJSON = append(config.SourceJSON, k.name)
	}
	return startHandler(m.t, m.whole, config, sources...)
}

func (*model) options() resolver.Options {
	return resolver.Options{Status: 302, Digest: true, MaxRedirects: new(4)}
}

// run lets things happen, and checks what serves after each of them.
func (m *model) run(steps int) {
	settle()
	m.check()
	for range steps {
		m.step()
		settle()
		m.load()
		m.check()
	}
	m.t.Logf("%s: %d edits accepted, %d refused, %d loads rejected",
		m.done[0], m.accepted, m.refused, m.rejected)
}

// end ends everything that runs in the bubble.
func (m *model) end() {
	if m.handler != nil {
		m.handler.end()
	}
	for _, k := range m.kept {
		if k.server != nil {
			k.server.stop()
		}
	}
	time.Sleep(2 * time.Minute) // until what outlasts a configuration has ended
}

// step lets something happen.
func (m *model) step() {
	k := m.kept[m.r.IntN(len(m.kept))]
	switch n := m.r.IntN(20); {
	case n < 8:
		m.edit()
	case n < 13:
		m.change(k)
	case n < 15:
		m.spoil(k)
	case n < 17:
		m.mendAll()
	case n < 18:
		m.meddle(k)
	case n < 19:
		m.note("reload")
		m.handler.Reload(context.Background())
	default:
		m.note("the configuration is loaded again")
		before := m.handler
		m.handler = m.start()
		before.end()
	}
}

// The keys and values that rules are made of. Few, so that they meet.
var (
	keys = []string{"a", "b", "c", "d", "e", "a/b", "a/b/c", "%61", "B", "e/", "t/{x}", "t/{y}/z",
		"home", "own00", "own10", "own20", "in"}
	values = []string{"https://one.example/", "https://two.example/x?q=1", "/a", "/b", "/c", "/d/x",
		"/e", "/a/b", "/t/1", "gone", "pass", "/in"}
)

func (m *model) rule() resolver.Rule {
	rule := resolver.Rule{Key: keys[m.r.IntN(len(keys))], Value: values[m.r.IntN(len(values))]}
	if m.r.IntN(40) == 0 {
		rule.Value = "nowhere at all"
	}
	if strings.Contains(rule.Value, "/") {
		rule.Status = []int{0, 0, 301, 307}[m.r.IntN(4)]
		rule.Exact = m.r.IntN(6) == 0
	}
	return rule
}

// change changes rules of a source where it reads them, as others do.
func (m *model) change(k *kept) {
	before := k.clone()
	for range 1 + m.r.IntN(3) {
		rule := m.rule()
		if m.r.IntN(3) == 0 {
			delete(k.rules, rule.Key)
			m.note("%s loses %s", k.name, rule.Key)
		} else {
			k.rules[rule.Key] = rule
			m.note("%s gets %+v", k.name, rule)
		}
	}
	if m.r.IntN(20) == 0 {
		clear(k.rules)
		m.note("%s is emptied", k.name)
	}
	k.write(before)
}

// spoil lets a source be unreadable, or puts that right.
func (m *model) spoil(k *kept) {
	before := k.clone()
	if k.fault != "" {
		k.fault = ""
	} else {
		k.fault = k.faults[m.r.IntN(len(k.faults))]
	}
	m.note("%s: fault %q", k.name, k.fault)
	k.write(before)
}

// mendAll puts everything right, so that there is something to serve.
func (m *model) mendAll() {
	m.note("all is put right")
	for i, k := range m.kept {
		before := k.clone()
		k.fault, k.rules = "", rulesOf(m.serves, i+1)
		if len(k.rules) == 0 {
			k.rules["own"] = resolver.Rule{Key: "own", Value: "https://own.example/"}
		}
		k.write(before)
	}
}

// meddle lets a connection be reset, or keys change, while all is read.
func (m *model) meddle(k *kept) {
	at := 1 + m.r.IntN(12)
	m.note("%s: meddled with at command %d", k.name, at)
	if k.server == nil || k.fault == unreachable {
		return
	}
	k.server.page, k.server.repeats = 1+m.r.IntN(3), m.r.IntN(2) == 0
	resets := m.r.IntN(2) == 0
	k.server.beforeEach(func(n int, command string) error {
		switch {
		case n != at:
		case resets:
			return errReset
		default:
			m.change(k)
		}
		return nil
	})
	if m.r.IntN(2) == 0 {
		k.server.reset()
	} else {
		m.handler.Reload(context.Background())
	}
	settle()
	k.server.beforeEach(nil)
}

// edit makes an edit of one to five keys through the handler.
func (m *model) edit() {
	e := new(live.Edit)
	for range 1 + m.r.IntN(5) {
		rule := m.rule()
		change := live.Change{Key: rule.Key, Rule: &rule}
		if _, there := m.kept[0].rules[rule.Key]; m.r.IntN(3) == 0 && (there || m.r.IntN(10) == 0) {
			change.Rule = nil
		}
		if m.r.IntN(20) == 0 || !m.changes(e, rule.Key) {
			e.Changes = append(e.Changes, change)
		}
	}
	changed, want := m.edited(e)
	for _, change := range e.Changes {
		m.note("edit %s to %+v", change.Key, change.Rule)
	}
	m.note("which is to succeed: %v", want == nil)
	_, err := m.handler.Apply(context.Background(), e)
	if (err == nil) != (want == nil) {
		m.failf("the error is %v, and not %v", err, want)
	}
	into := m.kept[0]
	if err != nil {
		m.refused++
	} else {
		m.accepted++
		into.rules = changed
		m.serves, _ = m.compile(nil)
	}
	if into.fault != "" {
		return
	}
	if held := into.read(); !maps.Equal(held, into.rules) {
		m.failf("%s holds %v, and not %v", into.name, held, into.rules)
	}
}

// same reports whether two keys are one.
func same(a, b string) bool {
	return resolver.CanonicalKey(a, false) == resolver.CanonicalKey(b, false)
}

// changes reports whether an edit has a change of a key.
func (*model) changes(e *live.Edit, key string) bool {
	return slices.ContainsFunc(e.Changes, func(c live.Change) bool { return same(c.Key, key) })
}

// edited returns what the first source holds after an edit, and why the edit is refused.
func (m *model) edited(e *live.Edit) (map[string]resolver.Rule, error) {
	if err := m.whyUnread(); err != nil {
		return nil, err
	}
	into := m.kept[0]
	changed := maps.Clone(into.rules)
	for i, change := range e.Changes {
		if m.changes(&live.Edit{Changes: e.Changes[:i]}, change.Key) {
			return nil, fmt.Errorf("there are two changes of %s", change.Key)
		}
		if err := changeIn(changed, change); err != nil {
			return nil, err
		}
	}
	if into.needed && len(changed) == 0 {
		return nil, fmt.Errorf("there is no other rule")
	}
	before := into.rules
	into.rules = changed
	defer func() { into.rules = before }()
	_, err := m.compile(m.serves)
	return changed, err
}

// changeIn makes a change in the rules of the first source, or says why it is refused.
func changeIn(rules map[string]resolver.Rule, change live.Change) error {
	if slices.ContainsFunc(inline, func(r resolver.Rule) bool { return same(r.Key, change.Key) }) {
		return fmt.Errorf("it is an inline rule")
	}
	spelling, found := change.Key, 0
	for key := range maps.Clone(rules) {
		if same(key, change.Key) {
			spelling = key
			found++
			delete(rules, key)
		}
	}
	if change.Rule != nil {
		rule := *change.Rule
		rule.Key = spelling
		rules[spelling] = rule
	}
	if found > 1 || found == 0 && change.Rule == nil {
		return fmt.Errorf("it stands there twice, or not at all")
	}
	return nil
}

// whyUnread returns why the sources cannot be read, or nil if they can.
func (m *model) whyUnread() error {
	for i, k := range m.kept {
		switch {
		case k.fault != "":
			return fmt.Errorf("%s: %s", k.name, k.fault)
		case len(k.rules) == 0 && (k.needed || len(rulesOf(m.serves, i+1)) > 0):
			return fmt.Errorf("%s has lost its rules", k.name)
		}
	}
	return nil
}

// load takes over what the sources hold, if a start with it went well.
func (m *model) load() {
	err := m.whyUnread()
	if err == nil {
		var next *resolver.Ruleset
		if next, err = m.compile(m.serves); err == nil {
			m.serves = next
		}
	}
	if err != nil {
		m.rejected++
	}
	if got := m.handler.LastLoad().Err; (got == nil) != (err == nil) {
		m.failf("the last load ended with %v, and not with %v", got, err)
	}
}

// compile compiles what the sources hold. No key may be answered with an error that was not
// before; nil for any.
func (m *model) compile(before *resolver.Ruleset) (*resolver.Ruleset, error) {
	c, err := resolver.NewCompiler(m.options())
	if err != nil {
		return nil, err
	}
	for _, rule := range inline {
		c.Add(rule)
	}
	for _, k := range m.kept {
		c.NextSource()
		for _, key := range slices.Sorted(maps.Keys(k.rules)) {
			c.Add(k.rules[key])
		}
	}
	next, err := c.Compile()
	if err == nil && before != nil {
		if n, first := lint.Broken(next, []*resolver.Ruleset{before}, 1); n > 0 {
			return nil, first[0]
		}
	}
	return next, err
}

// check compares what serves with what has to.
func (m *model) check() {
	m.t.Helper()
	got := m.handler.Serving().Ruleset
	for i := range len(m.kept) + 1 {
		if now, want := rulesOf(got, i), rulesOf(m.serves, i); !maps.Equal(now, want) {
			m.failf("of source %d these rules serve: %v\nnot: %v", i, now, want)
		}
	}
	if m.handler.Serving().Digest != m.serves.Digest() {
		m.failf("the digest is %s, not %s", m.handler.Serving().Digest, m.serves.Digest())
	}
	for _, key := range keys {
		for _, behind := range []string{"", "/x?q=2"} {
			url := "https://go.example/" + key + behind
			now, want := got.Resolve(url), m.serves.Resolve(url)
			if now.Destination != want.Destination || now.Outcome != want.Outcome ||
				now.Status != want.Status {
				m.failf("%s: %+v\nnot %+v", url, now, want)
			}
		}
	}
}

func (k *kept) clone() kept {
	before := *k
	before.rules = maps.Clone(k.rules)
	return before
}

// The faults of sources.
const (
	missing     = "it is not there"
	broken      = "it is half written"
	badValue    = "a value is bad"
	otherType   = "a key has another type"
	unreachable = "the server cannot be reached"
)

// sorted are rules in the order of their keys.
func sorted(rules map[string]resolver.Rule) []resolver.Rule {
	var all []resolver.Rule
	for _, key := range slices.Sorted(maps.Keys(rules)) {
		all = append(all, rules[key])
	}
	return all
}

// text returns rules as a file in JSON, or what is left of it with a fault.
func (k *kept) text() []byte {
	var b bytes.Buffer
	_ = rulefile.WriteJSON(&b, slices.Values(sorted(k.rules)))
	if k.fault == broken {
		return b.Bytes()[:b.Len()/2]
	}
	return b.Bytes()
}

// readText returns the rules of a file in JSON.
func readText(t *testing.T, r io.Reader) map[string]resolver.Rule {
	t.Helper()
	rules := map[string]resolver.Rule{}
	err := rulefile.ReadJSON(r, "", func(rule resolver.Rule) {
		rule.Position = resolver.Position{}
		rules[rule.Key] = rule
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// file is a file that is replaced as a whole, or written in its place.
func (m *model) file() *kept {
	path := filepath.Join(m.t.TempDir(), "links.json")
	k := &kept{name: "file", faults: []string{missing, broken}}
	k.newSource = func() provisioned {
		return &source.File{Path: path, ContentOptions: source.ContentOptions{Poll: "2s"}}
	}
	k.write = func(kept) {
		m.must(os.RemoveAll(path))
		if k.fault == missing {
			return
		}
		m.must(os.WriteFile(path, k.text(), 0o600))
		m.must(os.Chtimes(path, time.Now(), time.Now())) // by the clock of the bubble
	}
	k.read = func() map[string]resolver.Rule {
		content, err := os.ReadFile(path)
		m.must(err)
		return readText(m.t, bytes.NewReader(content))
	}
	return k
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.failf("%v", err)
	}
}

// entry is an entry of Caddy's storage.
func (m *model) entry(storage *memory) *kept {
	const key = "links.json"
	ctx := context.Background()
	k := &kept{name: "storage", faults: []string{missing, broken, unreachable}}
	k.newSource = func() provisioned {
		return &source.Storage{Key: key, ContentOptions: source.ContentOptions{Poll: "2s"}}
	}
	k.write = func(kept) {
		storage.cut(false)
		if k.fault == missing {
			m.must(storage.Delete(ctx, key))
		} else {
			m.must(storage.Store(ctx, key, k.text()))
		}
		storage.cut(k.fault == unreachable)
	}
	k.read = func() map[string]resolver.Rule {
		content, err := storage.Load(ctx, key)
		m.must(err)
		return readText(m.t, bytes.NewReader(content))
	}
	return k
}

// valueOf returns what Redis holds of a rule.
func valueOf(rule resolver.Rule) string {
	if rule.IsPlain() {
		return rule.Value
	}
	return rulefile.JSONValue(rule)
}

// ruleOf returns the rule that Redis holds so.
func (m *model) ruleOf(key, value string) resolver.Rule {
	if !strings.HasPrefix(value, "{") {
		return resolver.Rule{Key: key, Value: value}
	}
	rule, err := rulefile.ReadJSONValue(strings.NewReader(value), "", key)
	m.must(err)
	rule.Position = resolver.Position{}
	return rule
}

// inRedis are rules on a server, each of which is set or, where value is nil, deleted by set.
func (m *model) inRedis(
	name, hash string, set func(s *fakeServer, key string, value *string),
) *kept {
	server := newFakeServer()
	server.refusesTracking = m.r.IntN(4) == 0
	k := &kept{name: name, server: server, needed: true, faults: []string{badValue, unreachable}}
	k.newSource = func() provisioned { return sourceOn(server, hash) }
	k.write = func(before kept) {
		for key := range before.rules {
			if _, still := k.rules[key]; !still {
				set(server, key, nil)
			}
		}
		for _, rule := range sorted(k.rules) {
			if value := valueOf(rule); rule != before.rules[rule.Key] {
				set(server, rule.Key, &value)
			}
		}
		bad := `{"to": 1}`
		switch {
		case k.fault == badValue:
			set(server, "bad", &bad)
		case before.fault == badValue:
			set(server, "bad", nil)
		}
		switch {
		case k.fault == unreachable && before.fault != unreachable:
			server.stop()
		case k.fault != unreachable && before.fault == unreachable:
			server.start()
		}
	}
	return k
}

// hash is a hash of Redis.
func (m *model) hash() *kept {
	k := m.inRedis("hash", "links", func(s *fakeServer, key string, value *string) {
		s.setField("links", key, value)
	})
	k.read = func() map[string]resolver.Rule {
		rules := map[string]resolver.Rule{}
		fields, _ := k.server.get("links").(map[string]string)
		for key, value := range fields {
			rules[key] = m.ruleOf(key, value)
		}
		return rules
	}
	return k
}

// keys is a key of Redis for each rule.
func (m *model) keys() *kept {
	const prefix = "links:"
	k := m.inRedis("keys", prefix+"*", func(s *fakeServer, key string, value *string) {
		if value == nil {
			s.set(prefix+key, nil)
		} else {
			s.set(prefix+key, *value)
		}
	})
	k.faults = append(k.faults, otherType)
	write := k.write
	k.write = func(before kept) {
		switch {
		case k.fault == otherType:
			k.server.set(prefix+"list", list{})
		case before.fault == otherType:
			k.server.set(prefix+"list", nil)
		}
		write(before)
	}
	k.read = func() map[string]resolver.Rule {
		rules := map[string]resolver.Rule{}
		for name, value := range k.server.all() {
			key := strings.TrimPrefix(name, prefix)
			rules[key] = m.ruleOf(key, value)
		}
		return rules
	}
	return k
}
