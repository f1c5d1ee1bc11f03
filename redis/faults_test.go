package redis_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// faulty is a handler with rules on a server, which a test lets fail.
type faulty struct {
	*handler
	*fakeServer
	write func(key, value string)
}

// eachKind runs a test with rules in a hash, and with a key for each.
func eachKind(t *testing.T, test func(t *testing.T, f *faulty)) {
	t.Run("hash", func(t *testing.T) {
		inBubble(t, "links", func(f *faulty, key, value string) {
			if value == "" {
				f.setField("links", key, nil)
			} else {
				f.setField("links", key, &value)
			}
		}, test)
	})
	t.Run("keys", func(t *testing.T) { withKeys(t, test) })
}

// withKeys runs a test with a key for each rule.
func withKeys(t *testing.T, test func(t *testing.T, f *faulty)) {
	t.Helper()
	inBubble(t, "links:*", func(f *faulty, key, value string) {
		if value == "" {
			f.set("links:"+key, nil)
		} else {
			f.set("links:"+key, value)
		}
	}, test)
}

// inBubble runs a test with a handler that serves "0" to "99" of a server, in a bubble of time.
func inBubble(t *testing.T, hash string, write func(f *faulty, key, value string),
	test func(t *testing.T, f *faulty)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &faulty{fakeServer: newFakeServer()}
		f.page = 7
		f.write = func(key, value string) { write(f, key, value) }
		for i := range 100 {
			f.write(fmt.Sprint(i), "/old")
		}
		ctx := caddyWith(t, newMemory(t.Name()))
		f.handler = startHandler(t, ctx, live.Config{Name: t.Name(), Identity: t.Name(),
			Options: resolver.Options{Digest: true}, SourceJSON: []string{hash}},
			sourceOn(f.fakeServer, hash))
		t.Cleanup(func() {
			f.end()
			f.stop()
			time.Sleep(2 * time.Minute) // until what outlasts a configuration has ended
		})
		settle()
		test(t, f)
	})
}

// leads returns where a key leads, "" where it is not there.
func (f *faulty) leads(key string) string {
	rule, _ := f.Serving().Ruleset.RuleOf(1, key)
	return rule.Value
}

// wants checks that a key leads somewhere, "" for nowhere, within some time from now.
func (f *faulty) wants(t *testing.T, key, value string, within time.Duration) {
	t.Helper()
	const step = 10 * time.Millisecond
	for waited := time.Duration(0); f.leads(key) != value; waited += step {
		if waited > within {
			t.Fatalf("%s leads to %q after %v, and not to %q; the last load: %v",
				key, f.leads(key), within, value, f.LastLoad().Err)
		}
		time.Sleep(step)
		synctest.Wait()
	}
}

// soon is how long a change may take to be served once a server is back: the longest pause between
// two tries, and what reading takes.
const soon = 800*time.Millisecond + 200*time.Millisecond

func TestAChangeDuringAnOutageIsServedASecondAfterIt(t *testing.T) {
	eachKind(t, func(t *testing.T, f *faulty) {
		for i, outage := range []time.Duration{
			time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second, 10 * time.Minute,
		} {
			value := fmt.Sprint("/new/", i)
			f.stop()
			time.Sleep(outage)
			f.write("7", value)
			f.write(fmt.Sprint(50+i), "")
			f.start()
			f.wants(t, "7", value, soon)
			f.wants(t, fmt.Sprint(50+i), "", 0)
		}
	})
}

func TestAChangeAtAResetConnectionIsServedAtOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, f *faulty) {
		for i := range 20 {
			f.reset()
			value := fmt.Sprint("/new/", i)
			f.write("7", value)
			f.wants(t, "7", value, 500*time.Millisecond)
		}
	})
}

func TestAChangeIsServedAfterTwoSecondsIfAConnectionIsResetAtAnyCommand(t *testing.T) {
	eachKind(t, func(t *testing.T, f *faulty) {
		for at := 1; at <= 40; at++ {
			value, gone := fmt.Sprint("/new/", at), fmt.Sprint(50+at)
			f.stop()
			f.write("7", value)
			f.write(gone, "")
			f.beforeEach(func(n int, _ string) error {
				if n == at {
					return errReset
				}
				return nil
			})
			time.Sleep(30 * time.Second)
			f.start()
			f.wants(t, "7", value, 2*soon)
			f.wants(t, gone, "", 0)
		}
	})
}

// A reading that has seen the key already ends while all keys are compared, as the connection that
// tells of changes was lost.
func TestAKeyThatIsDeletedWhileNobodyListensIsGoneWhereAllIsReadMeanwhile(t *testing.T) {
	for step := 1; step <= 15; step++ {
		withKeys(t, func(t *testing.T, f *faulty) {
			scans := 0
			f.beforeEach(func(_ int, command string) error {
				if command != "scan" {
					return nil
				}
				switch scans++; scans {
				case step: // of the reading
					f.deafen()
					f.write("50", "")
					time.Sleep(time.Second)
				case step + 1: // of the comparison
					time.Sleep(2 * time.Second)
				}
				return nil
			})
			go f.Reload(context.Background())
			f.wants(t, "50", "", soon+3*time.Second)
		})
	}
}

func TestAKeyThatIsDeletedWhileAllIsReadAfterAnOutageIsGone(t *testing.T) {
	for at := 1; at <= 60; at++ {
		withKeys(t, func(t *testing.T, f *faulty) {
			f.stop()
			time.Sleep(5 * time.Second)
			f.beforeEach(func(n int, _ string) error {
				if n == at {
					f.write("50", "")
				}
				return nil
			})
			f.start()
			go f.Reload(context.Background())
			f.wants(t, "50", "", settleTime)
		})
	}
}

func TestKeysThatAreGivenTwiceHideNoneThatIsGone(t *testing.T) {
	withKeys(t, func(t *testing.T, f *faulty) {
		f.repeats = true
		f.reset()
		f.write("50", "")
		f.wants(t, "50", "", soon)
	})
}
