package live

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// manySource has many rules, and takes edits for nothing.
type manySource struct{ n int }

func (s *manySource) String() string { return "many" }

func (s *manySource) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	for i := range s.n {
		add(resolver.Rule{Key: fmt.Sprint("k", i), Value: fmt.Sprint("https://example.com/", i)})
	}
	return "", nil
}

func (s *manySource) Watch(context.Context, string, func()) {}

func (s *manySource) Writable() error { return nil }

func (s *manySource) Edit(context.Context, string, rulefile.Edit) (string, error) {
	return "version", nil
}

// BenchmarkApply changes a rule, beside what it takes to write it.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{10, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rs := serveForEdits(b, &manySource{n})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := edit("k7", fmt.Sprint("https://example.com/new/", i))
				if _, err := rs.Apply(b.Context(), e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// serveForEdits returns the rules of a source as they serve, and tells nobody of what happens.
func serveForEdits(tb testing.TB, from source.Source) *Ruleset {
	tb.Helper()
	rs := New(Config{Sources: []source.Source{from}})
	silent := caddy.BaseLog{WriterRaw: json.RawMessage(`{"output":"discard"}`), Level: "ERROR"}
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: silent}}}})
	if err != nil {
		tb.Fatal(err)
	}
	rs.Context = ctx
	rs.logger, rs.events = zap.NewNop(), new(caddyevents.App)
	if err := rs.events.Provision(rs.Context); err != nil {
		tb.Fatal(err)
	}
	first, err := rs.newLoading(tb.Context(), nil).load()
	if err != nil {
		tb.Fatal(err)
	}
	if rs.shared, err = newShared(tb.Name(), first, &lastLoad{}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = rs.shared.Destruct() })
	return rs
}

// internalSource has a rule that all others lead to.
type internalSource struct {
	manySource
	value string
}

func (s *internalSource) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	add(resolver.Rule{Key: "base", Value: s.value})
	add(resolver.Rule{Key: "kept", Value: resolver.PassValue})
	for i := range s.n {
		add(resolver.Rule{Key: fmt.Sprint("k", i), Value: fmt.Sprint("/base/", i)})
	}
	return "", nil
}

// BenchmarkPreview previews an edit of the rule that all others lead to, its removal, and that of
// another one that lets requests pass.
func BenchmarkPreview(b *testing.B) {
	for _, value := range []string{one, resolver.PassValue} {
		rs := serveForEdits(b, &internalSource{manySource{1_000_000}, value})
		for _, change := range [][]string{{"base", two}, {"base", ""}, {"kept", ""}} {
			b.Run(fmt.Sprintf("base=%s/%q", value, change), func(b *testing.B) {
				for b.Loop() {
					if _, err := rs.Preview(b.Context(), edit(change...)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
