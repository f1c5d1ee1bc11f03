package live_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/testcaddy"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// gate is a source whose first reading goes through, and whose later ones last until the
// configuration is unloaded.
type gate struct{ read bool }

// gates are where a test meets the gates that Caddy runs.
var gates = struct {
	changes  chan struct{} // what is sent here is a change
	watched  chan struct{} // a source is watched
	entering chan struct{} // a reading goes into a closed gate
}{make(chan struct{}), make(chan struct{}), make(chan struct{})}

func init() { caddy.RegisterModule(new(gate)) }

func (*gate) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.shortlink.sources.test_gate", New: func() caddy.Module {
		return new(gate)
	}}
}

func (*gate) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (*gate) String() string { return "test_gate" }

func (g *gate) Read(ctx context.Context, add func(resolver.Rule)) (string, error) {
	add(resolver.Rule{Key: "a", Value: "https://a.example"})
	if g.read {
		gates.entering <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}
	g.read = true
	return "one", nil
}

func (*gate) Watch(ctx context.Context, _ string, changed func()) {
	gates.watched <- struct{}{}
	select {
	case <-gates.changes:
		changed()
	case <-ctx.Done():
	}
}

var _ source.Source = (*gate)(nil)

// The new configuration takes the rules over, and watches once the old one has let go of them: what
// the old one was reading is no failure.
func TestAReloadInTheMiddleOfASwapWaitsForNothingAndFailsNothing(t *testing.T) {
	log := t.TempDir() + "/caddy.log"
	const block = "shortlink {\n from test_gate\n }"
	s := testcaddy.ServeWith(t, testcaddy.LogTo(log), block)
	<-gates.watched
	gates.changes <- struct{}{}
	<-gates.entering
	s.Load(t, block)
	<-gates.watched
	if got := s.Get(t, "/a").Location(); got != "302 https://a.example/" {
		t.Errorf("got %s", got)
	}
	content, err := os.ReadFile(log)
	testcaddy.Must(t, err)
	if strings.Contains(string(content), testcaddy.Rejected) {
		t.Errorf("the log says %s", content)
	}
}
