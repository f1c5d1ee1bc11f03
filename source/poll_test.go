package source

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func TestAPollTellsOnceOfEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var state atomic.Value
		var told atomic.Int64
		state.Store("first")
		seen := lastSeen{state: "first"}
		go seen.poll(ctx, time.Second, func(context.Context) string {
			return state.Load().(string)
		}, func() { told.Add(1) })
		synctest.Wait()
		for _, step := range []struct {
			state string
			told  int64
		}{{"first", 0}, {"second", 1}, {"second", 1}, {"first", 2}, {"gone", 3}, {"gone", 3}} {
			state.Store(step.state)
			time.Sleep(time.Second + time.Millisecond) // behind the next look
			synctest.Wait()
			if got := told.Load(); got != step.told {
				t.Errorf("at %s: told %d times, want %d", step.state, got, step.told)
			}
		}
	})
}

// Then the handler has begun with the rules of another one, and says that it could not load.
func TestAReadingThatFailedBeforeThePollIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen lastSeen
		seen.see("no such file")
		seen.begin("version")
		var told atomic.Int64
		look := func(context.Context) string { return "version" }
		go seen.poll(ctx, time.Second, look, func() { told.Add(1) })
		synctest.Wait()
		if told.Load() != 1 {
			t.Errorf("the version from before is told %d times", told.Load())
		}
	})
}

// A configuration that is loaded anew takes its rules over from the one before, which read them
// long ago.
func TestAPollThatIsOffLooksOnceWhenTheConfigurationIsLoaded(t *testing.T) {
	for name, tt := range map[string]struct {
		before string
		want   int
	}{"nothing has changed": {"now", 0}, "something has changed": {"then", 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				looked, told := 0, 0
				seen := lastSeen{state: tt.before}
				go seen.poll(ctx, 0, func(context.Context) string { looked++; return "now" }, func() { told++ })
				time.Sleep(time.Hour)
				synctest.Wait()
				if looked != 1 || told != tt.want {
					t.Errorf("looked %d times and told %d times, want 1 and %d", looked, told, tt.want)
				}
			})
		})
	}
}

// flakyContent is content that cannot be read where down says so: it is asked with the number of
// the reading, from 1.
func flakyContent(down func(reading int) bool) *content {
	readings := 0
	return &content{format: rulefile.JSON,
		read: func(_ context.Context, use func(io.Reader) error) error {
			readings++
			if down(readings) {
				return errors.New("the network is down")
			}
			return use(strings.NewReader("{}"))
		}}
}

// A poll that has seen new content tells of it. When the reading that follows fails, the content is
// the same at the next poll, and is read all the same.
func TestWhatAReadingHasMissedIsReadAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		down     func(reading int) bool
		readings int // by the one who is told
		fails    bool
	}{
		"all is well":               {func(int) bool { return false }, 1, false},
		"the reading fails once":    {func(reading int) bool { return reading == 2 }, 2, false},
		"the network is down":       {func(int) bool { return true }, 1, true},
		"the network comes back":    {func(reading int) bool { return reading < 5 }, 2, false},
		"the network goes for ever": {func(reading int) bool { return reading > 1 }, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := flakyContent(tt.down)
				readings, fails := 0, false
				go c.seen.poll(ctx, time.Second, c.state, func() {
					readings++
					_, err := c.rules(ctx, func(resolver.Rule) {})
					fails = err != nil
				})
				time.Sleep(time.Minute)
				synctest.Wait()
				if readings != tt.readings || fails != tt.fails {
					t.Errorf("read %d times, and the last time fails: %t; want %d, %t", readings, fails,
						tt.readings, tt.fails)
				}
			})
		})
	}
}
