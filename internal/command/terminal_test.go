package command

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

func TestProgressSaysHowFarWorkIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal strings.Builder
		p := progressAt(&terminal, "reading rules")
		check := func(what, want string) {
			t.Helper()
			if got := terminal.String(); got != want {
				t.Errorf("%s it shows %q, not %q", what, got, want)
			}
			terminal.Reset()
		}
		p.read(live.Progress{Rules: 10, Done: 1, All: 1000})
		check("at once", "")
		time.Sleep(time.Second)
		p.read(live.Progress{Rules: 1_234_000, Done: 432, All: 1000})
		check("after a second", "\rreading rules: 1,234,000 rules, 43 %\x1b[K")
		p.read(live.Progress{Rules: 1_300_000, Done: 500, All: 1000})
		check("a moment later", "")
		time.Sleep(time.Second)
		p.read(live.Progress{Rules: 2_000_000})
		check("of a pipe", "\rreading rules: 2,000,000 rules\x1b[K")
		p.startPhase("reading logs")
		p.setTotal(1000)
		time.Sleep(2 * time.Second)
		p.showRate("URLs", 240_000)
		p.advanceTo(2000) // the file has grown
		check("of URLs", "\rreading logs: 100 %, 120,000 URLs/s\x1b[K")
		p.startPhase("asking")
		time.Sleep(time.Second)
		p.step()
		check("of what is not known", "\rasking: 1.0 s\x1b[K")
		p.end()
		check("in the end", "\r\x1b[K")
	})
}

func TestOnlyATerminalIsShownProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file strings.Builder
		p := newProgress(&file, "reading rules")
		time.Sleep(time.Second)
		p.step()
		p.end()
		if file.Len() > 0 {
			t.Errorf("a file is shown %q", file.String())
		}
	})
}
