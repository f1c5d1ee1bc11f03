package redis

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// edit makes an edit of a key instead of a value, "" for none, and serves it.
func (e *edge) edit(t *testing.T, key, was string, rule *resolver.Rule) error {
	t.Helper()
	change := rulefile.Change{Key: key, Rule: rule}
	if was != "" {
		parsed, err := parseRule(key, was)
		if err != nil {
			t.Fatal(err)
		}
		change.Was = &parsed
	}
	edit := editOf(change)
	e.mu.Lock()
	version := e.version
	_, has := e.rules[key]
	edit.IsLast = rule == nil && has && len(e.rules) == 1
	e.mu.Unlock()
	version, err := e.source.Edit(t.Context(), version, edit)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.version = version; rule == nil {
		delete(e.rules, key)
	} else {
		e.rules[key] = rule.Value
	}
	return nil
}

func TestAnEditSetsOrDeletesAKeyAndItsPushIsNothingNew(t *testing.T) {
	server := startServer(t)
	server.addKeysUser(t, "editor",
		"+client|tracking", "+set", "+del", "+watch", "+unwatch", "+multi", "+exec")
	server.do(t, "mset", "links:docs", "https://docs.example", "links:old", "https://old.example")
	e := startKeysEdge(t, &Source{URL: server.url("editor")})
	paper := &resolver.Rule{Key: "paper", Value: "https://example.com/p", Status: 301, Exact: true}
	for _, tt := range []struct {
		key, was string
		rule     *resolver.Rule
		want     string
	}{
		{"plain", "", &resolver.Rule{Key: "plain", Value: "https://example.com"},
			"https://example.com"},
		{"paper", "", paper, `{"to":"https://example.com/p","status":301,"exact":true}`},
		{"docs", `{"to": "https://docs.example"}`,
			&resolver.Rule{Key: "docs", Value: "https://new.example"}, "https://new.example"},
		{"old", "https://old.example", nil, ""},
	} {
		before := e.changes
		if err := e.edit(t, tt.key, tt.was, tt.rule); err != nil {
			t.Fatal(err)
		}
		if got := server.client.Get(t.Context(), "links:"+tt.key).Val(); got != tt.want {
			t.Errorf("%s holds %s", tt.key, got)
		}
		version := e.version
		e.until(t, "the push", time.Second, func(e *edge) bool { return e.changes > before })
		if e.version != version {
			t.Errorf("the push of %s makes of the version %s %s", tt.key, version, e.version)
		}
	}
}

func TestAnEditOfOneServerIsServedOnAnotherAtOnce(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 1000)
	here := startKeysEdge(t, &Source{URL: server.url("")})
	there := startKeysEdge(t, &Source{URL: server.url("")})
	rule := &resolver.Rule{Key: "docs", Value: "https://docs.example"}
	if err := here.edit(t, "docs", "", rule); err != nil {
		t.Fatal(err)
	}
	t.Log(there.untilServed(t, "docs", rule.Value, time.Second))
}

func TestAnEditOfAKeyThatHasChangedChangesNothing(t *testing.T) {
	server := startServer(t)
	server.do(t, "mset", "links:docs", "https://docs.example", "links:other", "/docs")
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	rule := &resolver.Rule{Key: "docs", Value: "https://mine.example"}
	for name, tt := range map[string]struct {
		meanwhile []any
		was       string
		rule      *resolver.Rule
	}{
		"set where there was none":      {[]any{"set", "links:docs", "/a"}, "", rule},
		"set where it is otherwise":     {[]any{"set", "links:docs", "/b"}, "/a", rule},
		"delete what is otherwise":      {[]any{"set", "links:docs", "/c"}, "/b", nil},
		"delete what is there no more":  {[]any{"del", "links:docs"}, "/c", nil},
		"replace what is there no more": {[]any{"del", "links:docs"}, "/c", rule},
	} {
		t.Run(name, func(t *testing.T) {
			server.do(t, tt.meanwhile...)
			held := server.keysOf(t)["docs"]
			err := e.edit(t, "docs", tt.was, tt.rule)
			if !errors.Is(err, source.ErrChanged) || server.keysOf(t)["docs"] != held {
				t.Errorf("got %v, and docs is %q", err, server.keysOf(t)["docs"])
			}
		})
	}
}

// changeOf returns a change of a key from a value to another, "" for none.
func changeOf(t *testing.T, key, was, is string) rulefile.Change {
	t.Helper()
	change := rulefile.Change{Key: key}
	if was != "" {
		change.Was = &resolver.Rule{Key: key, Value: was}
	}
	if is != "" {
		change.Rule = &resolver.Rule{Key: key, Value: is}
	}
	return change
}

func TestChangesOfSeveralKeysAreMadeAllOrNone(t *testing.T) {
	changed := []string{source.ErrChanged.Error()}
	for name, tt := range map[string]struct {
		changes string // of keys, from what to what
		meddle  bool   // while the keys are read
		isLast  bool
		want    []string // in the error; none where all is made
	}{
		"all are as they were":      {"a:/a:/new b:/b: new::/x", false, false, nil},
		"two are others":            {"a:/a:/new b:/x: c::/y", false, false, changed},
		"one changes while it runs": {"a:/a:/new b:/b:", true, false, changed},
		"two are not there": {"x:: a:/a:/new y::", false, false,
			[]string{`key "x": there is no such rule`, `key "y": there is no such rule`}},
		"one holds no rule": {"a:/a:/new list::/x", false, false,
			[]string{"links:list is not a string"}},
		"all are removed": {"a:/a: b:/b: c:/c:", false, true, []string{"this is the last rule"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			server.do(t, "mset", "links:a", "/a", "links:b", "/b", "links:c", "/c")
			e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
			e.read(t.Context())
			server.do(t, "rpush", "links:list", "/a")
			e.source.server.client.(*goredis.Client).AddHook(&meddler{command: "get", meddle: func(int) {
				if tt.meddle {
					server.do(t, "set", "links:b", "/theirs")
				}
			}})
			edit := rulefile.Edit{IsLast: tt.isLast}
			for text := range strings.FieldsSeq(tt.changes) {
				part := strings.Split(text, ":")
				edit.Changes = append(edit.Changes, changeOf(t, part[0], part[1], part[2]))
			}
			version, err := e.source.Edit(t.Context(), e.version, edit)
			server.do(t, "del", "links:list")
			held := server.keysOf(t)
			if tt.want == nil {
				if want := map[string]string{"a": "/new", "c": "/c", "new": "/x"}; err != nil ||
					version == e.version || !maps.Equal(held, want) {
					t.Errorf("%v; the keys are %v", err, held)
				}
				return
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
			if held["a"] != "/a" || held["c"] != "/c" || len(held) != 3 {
				t.Errorf("the keys are %v", held)
			}
		})
	}
}

func TestOfTwoEditsOfAKeyAtOnceOneIsMade(t *testing.T) {
	server := startServer(t)
	server.do(t, "set", "links:docs", "/a")
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	e.source.server.client.(*goredis.Client).AddHook(&meddler{command: "get", meddle: func(int) {
		server.do(t, "set", "links:docs", "/theirs")
	}})
	err := e.edit(t, "docs", "/a", &resolver.Rule{Key: "docs", Value: "/mine"})
	if !errors.Is(err, source.ErrChanged) || server.keysOf(t)["docs"] != "/theirs" {
		t.Errorf("got %v, and docs is %q", err, server.keysOf(t)["docs"])
	}
}

func TestAnEditThatCannotBeMadeOfAKeySaysWhy(t *testing.T) {
	server := startServer(t)
	server.addKeysUser(t, "edge", "+watch", "+multi", "+exec", "+unwatch")
	server.addKeysUser(t, "reader")
	rule := &resolver.Rule{Key: "a", Value: "/b"}
	for name, tt := range map[string]struct {
		user, key, was string
		rule           *resolver.Rule
		want           string
	}{
		"a rule that is not there": {"", "nothing", "", nil, rulefile.ErrNoRule.Error()},
		"the last rule": {"", "docs", "/docs", nil,
			"this is the last rule with a key that begins with links:"},
		"a user who may not write": {"edge", "a", "", rule,
			"the user needs GET SET DEL WATCH UNWATCH MULTI EXEC for edits: NOPERM"},
		"a user who may not watch": {"reader", "a", "", rule,
			"the user needs GET SET DEL WATCH UNWATCH MULTI EXEC for edits: NOPERM"},
		"a key of another type": {"", "list", "", rule, "the Redis key links:list is not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			server.do(t, "flushdb")
			server.do(t, "set", "links:docs", "/docs")
			e := newEdge(t, &Source{Hash: "links:*", URL: server.url(tt.user)}, t.TempDir())
			e.read(t.Context())
			server.do(t, "rpush", "links:list", "/a")
			if err := e.edit(t, tt.key, tt.was, tt.rule); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAServerThatTakesNoEditsOfKeysSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		setUp []any
		want  error
		text  string
	}{
		"a replica": {[]any{"replicaof", "127.0.0.1", "1"}, source.ErrNotWritable,
			"let url name its master"},
		"no memory": {[]any{"config", "set", "maxmemory", "1"}, source.ErrUnavailable,
			"OOM command"},
		"too few replicas": {[]any{"config", "set", "min-replicas-to-write", "1"}, source.ErrUnavailable,
			"NOREPLICAS"},
		"no server": {nil, source.ErrUnavailable, "dial unix"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			server.do(t, "set", "links:docs", "/docs")
			e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
			e.read(t.Context())
			if tt.setUp == nil {
				server.kill()
			} else {
				server.do(t, tt.setUp...)
			}
			err := e.edit(t, "a", "", &resolver.Rule{Key: "a", Value: "/b"})
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAnEditBeforeTheFirstComparisonIsRead(t *testing.T) {
	server := startServer(t)
	server.fillKeys(t, 10)
	before := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	before.read(t.Context())
	e := newEdge(t, &Source{Hash: "links:*", URL: server.url("")}, t.TempDir())
	e.version, e.rules = before.version, before.rules
	handedOver := e.version
	if err := e.edit(t, "docs", "", &resolver.Rule{Key: "docs", Value: "/docs"}); err != nil {
		t.Fatal(err)
	}
	if e.version == handedOver {
		t.Error("the version is the one from before")
	}
	e.watch(t)
	e.untilLike(t, server, time.Second)
}

func TestAnEditThatIsTooLateWithoutTrackingHasItsKeyReadNext(t *testing.T) {
	server := startServer(t)
	server.do(t, "mset", "links:docs", "https://docs.example", "links:more", "https://more.example")
	s := &Source{Hash: "links:*", URL: server.url("") + "?protocol=2", Poll: "1h"}
	e := startEdge(t, s)
	e.waitForLog(t, "watching redis") // which follows the first comparison
	server.do(t, "set", "links:docs", "https://other.example")
	err := e.edit(t, "docs", "https://docs.example", nil)
	if !errors.Is(err, source.ErrChanged) {
		t.Fatal(err)
	}
	e.until(t, "what is there now", 2*time.Second, func(e *edge) bool {
		return e.rules["docs"] == "https://other.example"
	})
}
