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

// value returns the value of a field of the hash links, "" for none.
func (s *realServer) value(t *testing.T, key string) string {
	t.Helper()
	all, err := s.client.HGetAll(t.Context(), "links").Result()
	if err != nil {
		t.Fatal(err)
	}
	return all[key]
}

func TestAnEditSetsOrDeletesAFieldAndIsServed(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "https://docs.example")
	e := startEdge(t, &Source{URL: server.url("")})
	paper := &resolver.Rule{Key: "paper", Value: "https://example.com/p", Status: 301, Exact: true}
	for name, tt := range map[string]struct {
		edit rulefile.Edit
		want string
	}{
		"a destination": {rulefile.Edit{Key: "plain",
			Rule: &resolver.Rule{Key: "plain", Value: "https://example.com"}}, "https://example.com"},
		"an object": {rulefile.Edit{Key: "paper", Rule: paper},
			`{"to":"https://example.com/p","status":301,"exact":true}`},
		"nothing": {rulefile.Edit{Key: "paper"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.edit.Rule == nil {
				server.do(t, "hset", "links", tt.edit.Key, "https://old.example")
			}
			e.read(t.Context())
			if _, err := e.source.Edit(t.Context(), e.version, tt.edit); err != nil {
				t.Fatal(err)
			}
			if got := server.value(t, tt.edit.Key); got != tt.want {
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
	isOther := func(key string) bool { return key == "key-0000004" }
	for _, edit := range []rulefile.Edit{
		{Key: "docs", Rule: rule}, {Key: "docs"}, {Key: "key-0000003", Rule: &resolver.Rule{
			Key: "key-0000003", Value: "/3", Status: 301}}, {Key: "docs", Rule: rule, Same: isOther},
	} {
		version, err := e.source.Edit(t.Context(), e.version, edit)
		if e.read(t.Context()); err != nil || version != e.version {
			t.Errorf("%v: %v, %s is not %s", edit, err, version, e.version)
		}
	}
}

func TestAnEditOfAHashThatHasChangedChangesNothing(t *testing.T) {
	server := startServer(t)
	server.do(t, "hset", "links", "docs", "https://docs.example")
	e := newEdge(t, &Source{URL: server.url("")}, t.TempDir())
	e.read(t.Context())
	server.do(t, "hset", "links", "other", "https://other.example")
	_, err := e.source.Edit(t.Context(), e.version, rulefile.Edit{Key: "docs"})
	if !errors.Is(err, source.ErrChanged) || server.value(t, "docs") == "" {
		t.Errorf("got %v, and docs is %q", err, server.value(t, "docs"))
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
		"a rule that is not there": {"", rulefile.Edit{Key: "nothing"}, rulefile.ErrNoRule.Error()},
		"the last rule": {"", rulefile.Edit{Key: "docs"},
			"this is the last rule of the hash"},
		"a user who may not": {"edge",
			rulefile.Edit{Key: "a", Rule: &resolver.Rule{Key: "a", Value: "/b"}},
			"the user needs HSET and HDEL for edits: NOPERM"},
		"the last rule, misspelled": {"", rulefile.Edit{Key: "d%6Fcs", Same: func(key string) bool {
			return key == "docs"
		}}, "this is the last rule"},
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
			_, err := e.source.Edit(t.Context(), e.version, rulefile.Edit{Key: "a", Rule: rule})
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
	edit := rulefile.Edit{Key: "docs", Rule: &resolver.Rule{Key: "docs", Value: "https://new.example"},
		Same: func(key string) bool {
			return key == "d%6Fcs"
		}}
	if _, err := e.source.Edit(t.Context(), e.version, edit); err != nil {
		t.Fatal(err)
	}
	if server.value(t, "docs") != "https://new.example" || server.value(t, "d%6Fcs") != "" {
		t.Errorf("docs is %q, and d%%6Fcs is %q", server.value(t, "docs"), server.value(t, "d%6Fcs"))
	}
}
