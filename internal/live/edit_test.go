package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// countedSource is a source without rules that counts how often it is read.
type countedSource struct{ reads int }

func (s *countedSource) String() string { return "counted" }

func (s *countedSource) Read(context.Context, func(resolver.Rule)) (string, error) {
	s.reads++
	return "one", nil
}

func (s *countedSource) Watch(context.Context, string, func()) {}

func (s *countedSource) Writable() error { return nil }

func (s *countedSource) Edit(context.Context, string, rulefile.Edit) error { return nil }

// statusOf returns the refusal that an error of an edit makes.
func statusOf(err error) error {
	refusal, _ := refusalOf(err)
	return refusal
}

func TestAClientThatHasGoneCostsNoLoad(t *testing.T) {
	rule := resolver.Rule{Key: "a", Value: "https://a.example"}
	for name, ask := range map[string]func(context.Context, *Ruleset) error{
		"an edit": func(ctx context.Context, rs *Ruleset) error {
			_, err := rs.Apply(ctx, &Edit{Key: "a", Rule: &rule})
			return err
		},
		"a reload": func(ctx context.Context, rs *Ruleset) error {
			rs.Reload(ctx)
			return ErrGone
		},
	} {
		t.Run(name, func(t *testing.T) {
			counted := new(countedSource)
			rs := New(Config{
				Context: caddy.Context{Context: t.Context()}, Sources: []source.Source{counted},
			})
			rs.logger, rs.shared = zap.NewNop(), new(shared)
			rs.shared.loading.Lock() // by another edit
			ctx, leave := context.WithCancel(t.Context())
			answer := make(chan error)
			go func() { answer <- ask(ctx, rs) }()
			leave()
			rs.shared.loading.Unlock()
			if err := <-answer; !errors.Is(err, ErrGone) || counted.reads > 0 {
				t.Errorf("it is answered with %v, and the source is read %d times", err, counted.reads)
			}
		})
	}
}

func TestWhyASourceTakesNoEditDecidesTheStatus(t *testing.T) {
	for want, err := range map[int]error{
		409: fmt.Errorf("%w: it is a replica", source.ErrNotWritable),
		412: source.ErrChanged,
		503: fmt.Errorf("%w: no memory", source.ErrUnavailable),
	} {
		got, is := errors.AsType[*Refusal](statusOf(err))
		if !is || got.Status != want || got.Error() != err.Error() {
			t.Errorf("%v is answered with %v, want %d", err, got, want)
		}
	}
}

// contested is a source that others edit first, until a number of edits.
type contested struct {
	countedSource
	edits, until int
}

func (c *contested) Edit(context.Context, string, rulefile.Edit) error {
	if c.edits++; c.edits < c.until {
		return source.ErrChanged
	}
	return nil
}

func TestAnEditIsTriedAgainForAsLongAsItWaitsForALock(t *testing.T) {
	const forEver = 1_000_000
	for name, tt := range map[string]struct {
		until  int
		leave  time.Duration // after which the client leaves
		tag    string        // of If-Match
		status int           // 0 if it succeeds
		took   time.Duration // at most
	}{
		"others are quick":        {20, time.Hour, "", 0, editTime},
		"others never stop":       {forEver, time.Hour, "", http.StatusServiceUnavailable, 16 * time.Second},
		"the client leaves":       {forEver, time.Second, "", statusClientGone, time.Second},
		"the rules are to be old": {2, time.Hour, "tag", http.StatusPreconditionFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := &contested{until: tt.until}
				rs := New(Config{
					Context: caddy.Context{Context: t.Context()}, Sources: []source.Source{from},
				})
				first, err := rs.load(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				rs.shared, err = newShared(t.Name(), first, &lastLoad{})
				if err != nil {
					t.Fatal(err)
				}
				e := &Edit{Key: "a", Rule: &resolver.Rule{Key: "a", Value: "/b"}, same: rs.sameAs("a")}
				if tt.tag != "" {
					e.Conditions.ifMatch = &condition{tags: []string{tt.tag}}
				}
				ctx, cancel := context.WithTimeout(t.Context(), tt.leave)
				defer cancel()
				start, status := time.Now(), 0
				if _, err := rs.tryAndWriteInTime(ctx, e, from); err != nil {
					refusal, _ := errors.AsType[*Refusal](statusOf(err))
					status = refusal.Status
				}
				if took := time.Since(start); status != tt.status || took > tt.took {
					t.Errorf("status %d after %s, want %d", status, took, tt.status)
				}
			})
		})
	}
}
