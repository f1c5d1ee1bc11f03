package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/ahead"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
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

func (*manySource) Written(resolver.Rule) (string, error) { return "", nil }

func (s *manySource) Edit(context.Context, string, rulefile.Edit) (string, error) {
	return "version", nil
}

// BenchmarkApply changes a rule, beside what it takes to write it, without a history and with one.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{10, 10_000, 1_000_000} {
		for _, name := range []string{"", "-history"} {
			b.Run(fmt.Sprint(n, name), func(b *testing.B) {
				rs := serveForEdits(b, &manySource{n})
				if name != "" {
					rs.keepHistory(b.Context())
				}
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
}

// BenchmarkPatch makes 10,000 changes to a file of a million rules, or tells what they would do.
func BenchmarkPatch(b *testing.B) {
	const rules, changes = 1_000_000, 10_000
	path := filepath.Join(b.TempDir(), "links.json")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	many := &manySource{rules}
	err = errors.Join(rulefile.WriteJSON(file, func(yield func(resolver.Rule) bool) {
		_, _ = many.Read(b.Context(), func(rule resolver.Rule) { yield(rule) })
	}), file.Close())
	from := &source.File{Path: path}
	if err := errors.Join(err, from.Provision(caddy.Context{Context: b.Context()})); err != nil {
		b.Fatal(err)
	}
	rs := serveForEdits(b, from)
	made := func(generation int) *Edit {
		patch := map[string]string{}
		for i := range changes {
			key := fmt.Sprint("k", i*rules/changes)
			patch[key] = fmt.Sprint("https://example.com/new/", i, "/", generation)
		}
		text, _ := json.Marshal(patch)
		return &Edit{Make: func(serving *Loaded) ([]Change, error) {
			return ChangesFor(serving, false, func(
				now func(string) (resolver.Rule, bool), change func(resolver.Rule, bool),
			) error {
				return rulefile.ReadJSONPatch(bytes.NewReader(text), "", now, change)
			})
		}, Confirm: func(*effects.Effects) error { return nil }}
	}
	b.Run("dry", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := rs.Preview(b.Context(), made(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("applied", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := rs.Apply(b.Context(), made(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
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
	events := new(caddyevents.App)
	rs.logger = zap.NewNop()
	rs.reporter = newReporter(rs, events)
	if err := events.Provision(rs.Context); err != nil {
		tb.Fatal(err)
	}
	first, err := rs.newLoading(tb.Context(), nil).load()
	if err != nil {
		tb.Fatal(err)
	}
	if rs.shared, err = newShared(tb.Name(), first, &LastLoad{}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = rs.shared.Destruct() })
	return rs
}

// windowedSource has many rules that end, all but the first 10,000 at a second of their own, and
// one that does not.
type windowedSource struct {
	manySource
	from schedule.Time
}

func (s *windowedSource) Read(
	_ context.Context, add func(resolver.Rule),
) (string, error) {
	add(resolver.Rule{Key: "plain", Value: one})
	for i := range s.n {
		add(s.rule(i, fmt.Sprint("https://example.com/", i)))
	}
	return "", nil
}

func (s *windowedSource) rule(i int, value string) resolver.Rule {
	w := schedule.Always(resolver.Rule{Value: value})
	w.Until = s.from + schedule.Time(max(i, 10_000))
	return schedule.Join(fmt.Sprint("k", i), resolver.Position{}, []schedule.Window{w})
}

// BenchmarkWindows is what happens among rules that all end, up to a million.
func BenchmarkWindows(b *testing.B) {
	for _, n := range []int{20_000, 1_000_000} {
		s := &windowedSource{manySource{n}, schedule.At(time.Now().Add(time.Hour))}
		var rs *Ruleset
		run := func(name string, do func(i int) error) {
			b.Run(fmt.Sprintf("rules=%d/%s", n, name), func(b *testing.B) {
				if rs == nil {
					rs = serveForEdits(b, s)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := do(i); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("load", func(int) error {
			_, err := rs.newLoading(b.Context(), nil).load()
			return err
		})
		run("edit", func(i int) error {
			_, err := rs.Apply(b.Context(), edit("plain", fmt.Sprint("https://example.com/new/", i)))
			return err
		})
		run("edit-window", func(i int) error {
			before, rule := rs.Serving(), s.rule(n/2, fmt.Sprint("https://example.com/new/", i))
			_, err := rs.Apply(b.Context(), &Edit{Changes: []Change{{Key: rule.Key, Rule: &rule}}})
			for range past.KeyChanges(&before.Rules, &rs.Serving().Rules) { // as the history does
			}
			return err
		})
		edge := func(from, removed int) func(int) error {
			before, _ := rs.Serving().Turn(s.from + schedule.Time(from-1))
			return func(int) error {
				next, err := before.Turn(s.from + schedule.Time(from))
				if err == nil && next.Difference.Removed != removed {
					err = fmt.Errorf("%d rules end", next.Difference.Removed)
				}
				return err
			}
		}
		run("edge", edge(10_002, 1))
		run("edge-10001", edge(10_000, 10_001))
		run("look-ahead", func(int) error {
			new(ahead.Look).At(&rs.Serving().Rules, rs.checkOf(rs.Serving()), func() bool { return true })
			return nil
		})
	}
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
