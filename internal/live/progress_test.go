package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/source"
)

// slow is a source that passes ten thousand rules a second.
type slow struct {
	source.Source
	rules, read int
	isMeasured  bool
}

func (s *slow) String() string { return "slow" }

func (s *slow) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	for s.read = range s.rules {
		if s.read%10_000 == 0 {
			time.Sleep(time.Second)
		}
		add(resolver.Rule{Key: fmt.Sprint("k", s.read), Value: "https://a.example"})
	}
	return "version", nil
}

func (s *slow) Size(context.Context) int64 {
	if !s.isMeasured {
		return 0
	}
	return int64(s.rules)
}

func (s *slow) Done() int64 { return int64(s.read) }

func TestTheLogSaysHowFarALongStartIs(t *testing.T) {
	for name, tt := range map[string]struct {
		source *slow
		want   []string
	}{
		"few rules": {&slow{rules: 90_000, isMeasured: true}, nil},
		"many rules": {
			&slow{rules: 200_000, isMeasured: true},
			[]string{"100032 rules, 50 %", "150016 rules, 75 %"},
		},
		"many rules of nobody knows how many": {
			&slow{rules: 190_000}, []string{"100032 rules", "150016 rules"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, entries := observer.New(zapcore.InfoLevel)
				rs := New(Config{Sources: []source.Source{tt.source}})
				rs.logger = zap.New(core)
				rs.Context.Context = t.Context()
				if _, err := rs.loadAfter(nil, rs.Sources); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range entries.All() {
					text := fmt.Sprint(e.ContextMap()["rules"], " rules")
					if percent, ok := e.ContextMap()["percent"]; ok {
						text += fmt.Sprintf(", %v %%", percent)
					}
					got = append(got, text)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("it says %q, not %q", got, tt.want)
				}
			})
		})
	}
}

func TestProgressOfFilesGoesFromNothingToAll(t *testing.T) {
	var sources []source.Source
	var size int64
	for _, name := range []string{"a", "b"} {
		var b strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&b, "%s%d,https://a.example/\n", name, i)
		}
		path := filepath.Join(t.TempDir(), name+".csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		sources, size = append(sources, &source.Once{Path: path}), size+int64(b.Len())
	}
	rs := New(Config{Sources: sources, Rules: []resolver.Rule{{Key: "c", Value: "/"}}})
	var told []Progress
	rules, warnings, err := rs.CompileRules(t.Context(), func(p Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range told {
		if p.All != size || i > 0 && (p.Done < told[i-1].Done || p.Rules < told[i-1].Rules) {
			t.Fatalf("after %+v comes %+v, of %d bytes", told[max(i-1, 0)], p, size)
		}
	}
	if last := told[len(told)-1]; told[0].Done > size/10 || last.Done != size ||
		last.Rules < 20_000-64 {
		t.Errorf("it goes from %+v to %+v, of %d bytes", told[0], last, size)
	}
	told = nil
	lint.Check(rules, warnings, nil, func(lint.Finding) {})
	if len(told) == 0 || told[0].Done != 0 || told[len(told)-1].Rules < 15_000 {
		t.Errorf("of a look at all rules it tells %v", told)
	}
}
