package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// editOf returns an edit of some changes.
func editOf(changes ...rulefile.Change) rulefile.Edit { return rulefile.Edit{Changes: changes} }

// value returns the value of a field of the hash links, "" for none.
func (s *realServer) value(t *testing.T, key string) string {
	t.Helper()
	all, err := s.client.HGetAll(t.Context(), "links").Result()
	if err != nil {
		t.Fatal(err)
	}
	return all[key]
}

func TestARuleIsWrittenAsTheCommandThatSetsIt(t *testing.T) {
	for command, tt := range map[string]struct{ hash, key, value string }{
		"HSET links docs https://docs.example/":     {"links", "docs", "https://docs.example/"},
		"SET links:docs https://docs.example/":      {"links:*", "docs", "https://docs.example/"},
		"HSET links 'it\\'s' 'https://x.test/?a=b'": {"links", "it's", "https://x.test/?a=b"},
		"HSET links 'gh/{x}' '/{x}'":                {"links", "gh/{x}", "/{x}"},
	} {
		rule := resolver.Rule{Key: tt.key, Value: tt.value}
		if got, err := (&Source{Hash: tt.hash}).Written(rule); got != command || err != nil {
			t.Errorf("%s, %v, want %s", got, err, command)
		}
	}
	rule := resolver.Rule{Key: "docs", Value: "/d", Exact: true}
	const command = `HSET links docs '{"to":"/d","exact":true}'`
	if got, err := (&Source{Hash: "links"}).Written(rule); got != command || err != nil {
		t.Errorf("%s, %v, want %s", got, err, command)
	}
}

func TestAnEditSetsOrDeletesAFieldAndIsServed(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "https://docs.example")
	e := startEdge(t, &Source{URL: server.url("")})
	paper := &resolver.Rule{Key: "paper", Value: "https://example.com/p", Status: 301, Exact: true}
	for name, tt := range map[string]struct {
		change rulefile.Change
		want   string
	}{
		"a destination": {rulefile.Change{Key: "plain",
			Rule: &resolver.Rule{Key: "plain", Value: "https://example.com"}}, "https://example.com"},
		"an object": {rulefile.Change{Key: "paper", Rule: paper},
			`{"to":"https://example.com/p","status":301,"exact":true}`},
		"nothing": {rulefile.Change{Key: "paper"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.change.Rule == nil {
				server.do(t, "hset", "links", tt.change.Key, "https://old.example")
			}
			e.read(t.Context())
			if _, err := e.source.Edit(t.Context(), e.version, editOf(tt.change)); err != nil {
				t.Fatal(err)
			}
			if got := server.value(t, tt.change.Key); got != tt.want {
				t.Errorf("the field holds %s", got)
			}
		})
	}
}

func TestAnEditOfAHashTellsTheVersionOfWhatIsThereThen(t *testing.T) {
	server := startServer(t)
	server.fill(t, 10)
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	rule := &resolver.Rule{Key: "docs", Value: "/docs"}
	third := &resolver.Rule{Key: "key-0000003", Value: "/3", Status: 301}
	for _, changes := range [][]rulefile.Change{
		{{Key: "docs", Rule: rule}}, {{Key: "docs"}}, {{Key: "key-0000003", Rule: third}},
		{{Key: "key-0000004", Rule: rule}},
		{{Key: "key-0000007"}, {Key: "docs"}, {Key: "a", Rule: &resolver.Rule{Key: "a", Value: "/a"}},
			{Key: "key-0000001", Rule: &resolver.Rule{Key: "key-0000001", Value: "/1"}}},
	} {
		version, err := e.source.Edit(t.Context(), e.version, editOf(changes...))
		if e.read(t.Context()); err != nil || version != e.version {
			t.Errorf("%v: %v, %s is not %s", changes, err, version, e.version)
		}
	}
	if len(e.rules) != 9 || e.rules["a"] != "/a" || e.rules["key-0000001"] != "/1" {
		t.Errorf("it holds %v", e.rules)
	}
}

func TestAnEditOfAHashThatHasChangedChangesNothing(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "https://docs.example")
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	server.do(t, "hset", "links", "other", "https://other.example")
	_, err := e.source.Edit(t.Context(), e.version, editOf(rulefile.Change{Key: "docs"}))
	if !errors.Is(err, source.ErrChanged) || server.value(t, "docs") == "" {
		t.Errorf("got %v, and docs is %q", err, server.value(t, "docs"))
	}
}

func TestAnEditOfAHashInWhichATimeHasChangedChangesNothing(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "fair", `{"to": "/fair", "until": "2027-03-01"}`)
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	const changed = `{"to": "/fair", "until": "2027-03-02"}`
	server.do(t, "hset", "links", "fair", changed)
	_, err := e.source.Edit(t.Context(), e.version, editOf(
		rulefile.Change{Key: "fair", Rule: &resolver.Rule{Key: "fair", Value: "/other"}}))
	if !errors.Is(err, source.ErrChanged) || server.value(t, "fair") != changed {
		t.Errorf("got %v, and fair is %q", err, server.value(t, "fair"))
	}
}

func TestAnEditThatCannotBeMadeInAHashSaysWhy(t *testing.T) {
	server := startServer(t)
	server.addUser(t, "edge")
	server.do(t, "hset", "links", "docs", "https://docs.example")
	for name, tt := range map[string]struct {
		user string
		edit rulefile.Edit
		want string
	}{
		"a rule that is not there": {"", editOf(rulefile.Change{Key: "nothing"}),
			`key "nothing": ` + rulefile.ErrNoRule.Error()},
		"several that are not there": {"",
			editOf(rulefile.Change{Key: "x"}, rulefile.Change{Key: "docs"}, rulefile.Change{Key: "y"}),
			"key \"x\": there is no such rule\nkey \"y\": there is no such rule"},
		"the last rule": {"", editOf(rulefile.Change{Key: "docs"}),
			"this is the last rule of the hash"},
		"a user who may not": {"edge",
			editOf(rulefile.Change{Key: "a", Rule: &resolver.Rule{Key: "a", Value: "/b"}}),
			"the user needs HSET and HDEL for edits: NOPERM"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t, &Source{URL: server.url(tt.user)}, t.TempDir())
			e.read(t.Context())
			if _, err := e.source.Edit(t.Context(), e.version, tt.edit); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAServerThatTakesNoEditsSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		setUp func(t *testing.T, server *realServer)
		want  error
		text  string
	}{
		"a replica": {
			func(t *testing.T, s *realServer) { s.do(t, "replicaof", "127.0.0.1", freePort(t)) },
			source.ErrNotWritable, "READONLY You can't write against a read only replica.",
		},
		"no memory": {
			func(t *testing.T, s *realServer) { s.do(t, "config", "set", "maxmemory", "1") },
			source.ErrUnavailable, "OOM command not allowed when used memory > 'maxmemory'.",
		},
		"too few replicas": {
			func(t *testing.T, s *realServer) { s.do(t, "config", "set", "min-replicas-to-write", "1") },
			source.ErrUnavailable, "NOREPLICAS Not enough good replicas to write.",
		},
		"a user who may not": {
			func(t *testing.T, s *realServer) { s.do(t, "acl", "setuser", "default", "-hset") },
			source.ErrNotWritable, "NOPERM",
		},
		"no server": {
			func(t *testing.T, s *realServer) { s.kill() },
			source.ErrUnavailable, "dial unix",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			server.do(t, "hset", "links", "docs", "https://docs.example")
			e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
			e.read(t.Context())
			tt.setUp(t, server)
			rule := &resolver.Rule{Key: "a", Value: "/b"}
			_, err := e.source.Edit(t.Context(), e.version, editOf(rulefile.Change{Key: "a", Rule: rule}))
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestAKeyInAnotherSpellingIsReplacedAndNotAdded(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "d%6Fcs", "https://docs.example", "a", "https://a.example")
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	edit := editOf(rulefile.Change{
		Key: "d%6Fcs", Rule: &resolver.Rule{Key: "docs", Value: "https://new.example"},
	})
	if _, err := e.source.Edit(t.Context(), e.version, edit); err != nil {
		t.Fatal(err)
	}
	if server.value(t, "docs") != "https://new.example" || server.value(t, "d%6Fcs") != "" {
		t.Errorf("docs is %q, and d%%6Fcs is %q", server.value(t, "docs"), server.value(t, "d%6Fcs"))
	}
}
