package source_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// timed is a server within the process that records when it is asked.
type timed struct {
	mu     sync.Mutex
	begun  time.Time
	asked  []time.Duration
	status int
	header http.Header
}

func (s *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, time.Since(s.begun))
	header := s.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: s.status, Header: header, Body: io.NopCloser(strings.NewReader(oldRules)), Request: r,
	}, nil
}

// answer lets the server answer with a status from now on.
func (s *timed) answer(status int, header ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun, s.asked, s.status, s.header = time.Now(), nil, status, http.Header{}
	for pair := range slices.Chunk(header, 2) {
		s.header.Set(pair[0], pair[1])
	}
}

// pauses returns the pauses before the requests since the last answer was set.
func (s *timed) pauses() (pauses []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, at := range s.asked {
		if i > 0 {
			at -= s.asked[i-1]
		}
		pauses = append(pauses, at)
	}
	return pauses
}

// outside returns a context of Caddy, which is not made within a bubble of time.
func outside(t *testing.T) caddy.Context {
	t.Helper()
	ctx, err := caddy.ProvisionContext(&caddy.Config{Admin: &caddy.AdminConfig{Disabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// polled watches a source within a bubble of time, and returns it.
func polled(t *testing.T, ctx caddy.Context, s *timed, poll string) *source.URL {
	t.Helper()
	from := &source.URL{URL: "https://links.example/links.json"}
	from.Poll = poll
	if err := from.Provision(ctx); err != nil {
		t.Fatal(err)
	}
	from.ReachBy(nil, s, nil)
	s.answer(200)
	version, err := from.Read(t.Context(), func(resolver.Rule) {})
	if err != nil {
		t.Fatal(err)
	}
	watching, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		from.Watch(watching, version, func() {})
	}()
	t.Cleanup(func() {
		end()
		<-done
	})
	return from
}

// near checks that pauses are the wanted ones, with up to a tenth more or less.
func near(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) < len(want) {
		t.Fatalf("the pauses are %v, want %v", got, want)
	}
	for i, pause := range want {
		if got[i] < pause-pause/10 || got[i] > pause+pause/10+1 {
			t.Errorf("pause %d is %v, want about %v", i+1, got[i], pause)
		}
	}
}

func TestAServerIsAskedAtTheIntervalAndSoonerAfterAFailure(t *testing.T) {
	ctx := outside(t)
	synctest.Test(t, func(t *testing.T) {
		s := new(timed)
		polled(t, ctx, s, "30s")
		s.answer(200)
		time.Sleep(10 * time.Minute)
		pauses := s.pauses()
		const every = 30 * time.Second
		near(t, pauses, every, every, every, every, every, every)
		if pauses = slices.Compact(pauses); len(pauses) < 3 {
			t.Error("the pauses are equal: a fleet would ask at once")
		}
	})
}

func TestPausesAfterFailuresDoubleUpToTheInterval(t *testing.T) {
	ctx := outside(t)
	synctest.Test(t, func(t *testing.T) {
		s := new(timed)
		polled(t, ctx, s, "10s")
		s.answer(500)
		time.Sleep(5 * time.Minute)
		near(t, s.pauses()[1:], time.Second, 2*time.Second, 4*time.Second, 8*time.Second,
			10*time.Second, 10*time.Second)
	})
}

func TestAServerIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	for name, tt := range map[string]struct {
		header []string
		want   time.Duration
	}{
		"seconds": {[]string{"Retry-After", "120"}, 2 * time.Minute},
		"a time of a clock that is wrong": {[]string{"Retry-After", "Mon, 02 Jan 2006 15:06:05 GMT",
			"Date", "Mon, 02 Jan 2006 15:04:05 GMT"}, 2 * time.Minute},
		"too long":                   {[]string{"Retry-After", "2000000000"}, time.Hour},
		"a number that is too large": {[]string{"Retry-After", "99999999999999999999"}, time.Hour},
		"a time that has passed": {[]string{"Retry-After", "Mon, 02 Jan 2006 15:03:05 GMT",
			"Date", "Mon, 02 Jan 2006 15:04:05 GMT"}, time.Second},
		"nothing":  {nil, time.Second},
		"nonsense": {[]string{"Retry-After", "-5"}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := outside(t)
			synctest.Test(t, func(t *testing.T) {
				s := new(timed)
				polled(t, ctx, s, "30s")
				s.answer(429, tt.header...)
				time.Sleep(3 * time.Hour)
				pauses := s.pauses()[1:]
				near(t, pauses, tt.want)
				if pauses[0] < tt.want-tt.want/10 || tt.want > time.Minute && pauses[0] < tt.want {
					t.Errorf("it is asked after %v already", pauses[0])
				}
			})
		})
	}
}

func TestAReadingEndsThePauseThatAServerHasAskedFor(t *testing.T) {
	ctx := outside(t)
	synctest.Test(t, func(t *testing.T) {
		s := new(timed)
		from := polled(t, ctx, s, "30s")
		s.answer(503, "Retry-After", "3600")
		time.Sleep(time.Minute)
		read := func() error {
			_, err := from.Read(t.Context(), func(resolver.Rule) {})
			return err
		}
		if err := read(); err == nil {
			t.Error("what Watch has fetched is no error")
		}
		s.answer(200)
		if err := read(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		const every = 30 * time.Second
		near(t, s.pauses()[1:], every, every, every)
	})
}

func TestASourceThatIsNotPolledAsksNoMore(t *testing.T) {
	ctx := outside(t)
	synctest.Test(t, func(t *testing.T) {
		s := new(timed)
		polled(t, ctx, s, "off")
		s.answer(200)
		time.Sleep(time.Hour)
		if pauses := s.pauses(); len(pauses) > 0 {
			t.Errorf("it is asked after %v", pauses)
		}
	})
}
