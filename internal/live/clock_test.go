package live

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/source"
)

// slowPages take a while to say what they answer.
type slowPages time.Duration

func (p slowPages) Answer(string) bool {
	time.Sleep(time.Duration(p))
	return false
}

func TestAWindowThatEndsWhileAnotherConfigurationTakesOverStaysClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		s.setJSON(t, fmt.Sprintf(`{"a": {"to": %q, "until": %q}, "b": "/c"}`, one, at(time.Now(), 10)))
		rs, logs := serve(t, Config{Sources: []source.Source{s}})
		synctest.Wait()
		rs.Pages = slowPages(20 * time.Second)
		rs.adoptPages()
		rs.wantServed(t, "a", "pass")
		time.Sleep(10 * time.Second)
		if n := logs.FilterMessage("rules swapped: a window begins or ends").Len(); n != 1 {
			t.Errorf("%d windows have ended", n)
		}
		if list := rs.Serving().Warnings.Warnings(); len(list) != 1 || list[0].Key != "b" {
			t.Errorf("the warnings are %v", list)
		}
	})
}

// slowListener takes a while to hear of an event.
type slowListener time.Duration

func (l slowListener) Handle(context.Context, caddy.Event) error {
	time.Sleep(time.Duration(l))
	return nil
}

func TestWhoListensToEventsKeepsNoWindowFromEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &plainSource{name: "links.json"}
		begin := time.Now()
		s.setJSON(t, fmt.Sprintf(`{"a": [{"to": %q, "until": %q},
			{"to": %q, "since": %[2]q, "until": %[4]q}]}`, one, at(begin, 10), two, at(begin, 12)))
		rs, _ := serve(t, Config{Sources: []source.Source{s}})
		if err := rs.reporter.Events.On("shortlink_loaded", slowListener(time.Minute)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.tell() // after which the listener is heard of
		time.Sleep(10 * time.Second)
		synctest.Wait()
		rs.wantServed(t, "a", two)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		rs.wantServed(t, "a", "pass")
		time.Sleep(2 * time.Minute)
	})
}

func TestAWindowEndsWhileAConfigurationBeforeFinishesItsLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSource{plainSource: plainSource{name: "links.json"}}
		s.setJSON(t, fmt.Sprintf(`{"a": {"to": %q, "until": %q}}`, one, at(time.Now(), 10)))
		ctx, end := context.WithCancel(t.Context())
		config := Config{Context: caddy.Context{Context: ctx}, Sources: []source.Source{s}}
		before, _ := start(t, config)
		synctest.Wait()
		s.let = make(chan struct{})
		s.tell()
		config.Context.Context = t.Context()
		after, _ := newRuleset(t, config)
		after.shared = before.shared
		go after.run(nil)
		end()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		after.wantServed(t, "a", "pass")
		close(s.let)
	})
}
