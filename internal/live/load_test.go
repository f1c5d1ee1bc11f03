package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/refusal"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// restless is a source that is being written for a time.
type restless struct {
	source.Source
	reads, until int
}

func (r *restless) String() string { return "links.csv" }

func (r *restless) Read(_ context.Context, add func(resolver.Rule)) (string, error) {
	add(resolver.Rule{Key: "a", Value: "https://a.example"})
	if r.reads++; r.reads < r.until {
		return "", source.ErrBeingWritten
	}
	return "version", nil
}

func TestASourceThatIsBeingWrittenIsReadAgain(t *testing.T) {
	for name, until := range map[string]int{"for a moment": 3, "for ever": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				rs := New(Config{Sources: []source.Source{&restless{until: until}}})
				rules, _, err := rs.CompileRules(t.Context(), nil)
				switch took := time.Since(start); {
				case until == 3 && (err != nil || rules.Len() != 1):
					t.Error(rules, err)
				case until > 3 &&
					(!errors.Is(err, source.ErrBeingWritten) || took < time.Second || took > 5*time.Second):
					t.Errorf("got %v after %s", err, took)
				}
			})
		})
	}
}

func TestAnEditOfASourceThatIsOutIsWorthAnotherTry(t *testing.T) {
	if err := refused(source.ErrUnavailable); reasonOf(err) != refusal.Unavailable {
		t.Errorf("it is %v", err)
	}
}
