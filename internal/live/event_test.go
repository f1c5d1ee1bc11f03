package live_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
)

// recorder is an event handler that keeps what it is told.
type recorder struct{}

// recorded are the events that a recorder was told.
var recorded = make(chan caddy.Event, 100)

func init() { caddy.RegisterModule(new(recorder)) }

func (*recorder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.test_recorder", New: func() caddy.Module {
		return new(recorder)
	}}
}

func (*recorder) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (*recorder) Handle(_ context.Context, event caddy.Event) error {
	recorded <- event
	return nil
}

var _ caddyevents.Handler = (*recorder)(nil)

func TestEventsTellOfRulesThatAreLoadedSwappedAndRejected(t *testing.T) {
	const options = "events {\n on shortlink_loaded test_recorder\n on shortlink_rejected " +
		"test_recorder\n }"
	s := &testcaddy.Follower{Links: t.TempDir() + "/links.json"}
	testcaddy.Write(t, s.Links, `{"a": "https://a.example"}`)
	s.Server = testcaddy.ServeWith(t, options, s.Block("", "name docs"))
	// A file that is written in its place is empty for a moment, which would be an event, too.
	replace := func(content string) {
		testcaddy.Write(t, s.Links+".new", content)
		testcaddy.Must(t, os.Rename(s.Links+".new", s.Links))
	}
	loaded := <-recorded
	replace(`{"a": "https://b.example", "b": "/a"}`)
	swapped := <-recorded
	replace(`{"a": "nonsense"}`)
	rejection := <-recorded
	replace(`{"a": "https://b.example", "b": "/a"}`)
	recovery := <-recorded
	for _, tt := range []struct {
		event caddy.Event
		name  string
		want  map[string]any
	}{
		{loaded, "shortlink_loaded", map[string]any{"name": "docs", "rules": 1}},
		{swapped, "shortlink_loaded", map[string]any{
			"name": "docs", "rules": 2, "added": 1, "first_added": []string{"b"}, "changed": 1,
			"first_changed": []string{"a"}, "removed": 0,
			"old_digest": loaded.Data["digest"],
		}},
		{rejection, "shortlink_rejected",
			map[string]any{"name": "docs", "digest": swapped.Data["digest"]}},
		{recovery, "shortlink_loaded", map[string]any{
			"name": "docs", "rules": 2, "added": 0, "changed": 0, "removed": 0,
			"old_digest": swapped.Data["digest"], "digest": swapped.Data["digest"],
		}},
	} {
		if tt.event.Name() != tt.name {
			t.Errorf("the event is %s, want %s", tt.event.Name(), tt.name)
		}
		for key, want := range tt.want {
			if got := tt.event.Data[key]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v, want %v", tt.name, key, got, want)
			}
		}
	}
	if rejection.Data["error"] == "" || rejection.Data["failing_since"] == nil {
		t.Errorf("the rejection is %v", rejection.Data)
	}
}
