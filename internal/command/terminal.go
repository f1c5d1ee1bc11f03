package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// terminalOf returns the terminal that w writes to, or nil.
func terminalOf(w io.Writer) *os.File {
	if safe, ok := w.(*printable.Writer); ok {
		w = safe.Unwrap()
	}
	if !isTerminal(w) {
		return nil
	}
	return w.(*os.File)
}

// isTerminal reports whether somebody reads an output, or can answer at an input.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// progress shows people at a terminal how far long work is; it writes nothing elsewhere. It is not
// safe for concurrent use: a command does all its work in one goroutine.
type progress struct {
	w     io.Writer // nil for nobody
	what  string
	begun time.Time
	shown time.Time // initially begun
	isOut bool      // a line has to be cleared

	done, all    int64 // work in any unit; all is 0 if not known
	amount, rate quantity
}

// quantity is a number of things.
type quantity struct {
	unit string // empty if there is nothing to show
	n    int
}

// newProgress returns the progress of some work.
func newProgress(w io.Writer, what string) *progress {
	if terminal := terminalOf(w); terminal != nil {
		return progressAt(terminal, what)
	}
	return progressAt(nil, what)
}

// progressAt is newProgress for a terminal, or nil for none.
func progressAt(w io.Writer, what string) *progress {
	now := time.Now()
	return &progress{w: w, what: what, begun: now, shown: now}
}

// startPhase begins the next phase of the work.
func (p *progress) startPhase(what string) {
	*p = progress{w: p.w, what: what, begun: time.Now(), shown: p.shown, isOut: p.isOut}
}

// setTotal sets the amount of work in any unit, or 0 if it is not known.
func (p *progress) setTotal(all int64) { p.all = all }

// showCount shows a number of things that are done.
func (p *progress) showCount(unit string, n int) { p.amount = quantity{unit, n} }

// showRate shows how many things are done per second.
func (p *progress) showRate(unit string, n int) { p.rate = quantity{unit, n} }

// advanceTo sets how much of the work is done, and is a step.
func (p *progress) advanceTo(done int64) {
	p.done = done
	p.step()
}

// step shows the progress, at most twice a second.
func (p *progress) step() {
	const often = 500 * time.Millisecond
	if p.w == nil || time.Since(p.shown) < often {
		return
	}
	p.shown, p.isOut = time.Now(), true
	fmt.Fprintf(p.w, "\r%s: %s\x1b[K", p.what, strings.Join(p.parts(), ", "))
}

// parts are what is known of the work, or else its duration.
func (p *progress) parts() (parts []string) {
	taken := p.shown.Sub(p.begun).Seconds()
	if p.amount.unit != "" {
		parts = append(parts, humanize.Comma(int64(p.amount.n))+" "+p.amount.unit)
	}
	if p.all > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", min(100, p.done*100/p.all)))
	}
	if p.rate.unit != "" {
		perSecond := float64(p.rate.n) / taken
		parts = append(parts, humanize.Comma(int64(perSecond))+" "+p.rate.unit+"/s")
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", taken))
	}
	return parts
}

// read shows how far rules have been read.
func (p *progress) read(how live.Progress) {
	p.showCount("rules", how.Rules)
	p.setTotal(how.All)
	p.advanceTo(how.Done)
}

// end clears the line, and shows nothing more.
func (p *progress) end() {
	if p.w != nil && p.isOut {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.w = nil
}

// colours colours headings at a terminal.
type colours struct {
	terminal *os.File // nil for no colours
}

// coloursFor returns colours for output to w: none unless it is a terminal, and none if the
// environment has NO_COLOR.
func coloursFor(w io.Writer) colours {
	if os.Getenv("NO_COLOR") != "" {
		return colours{}
	}
	return colours{terminalOf(w)}
}

// The colours, as terminals number them.
const (
	red    = 31
	green  = 32
	yellow = 33
	bold   = 1
)

// heading writes a coloured line to the terminal itself, because out escapes control characters.
func (c colours) heading(out *bufio.Writer, colour int, text string) {
	if c.terminal == nil {
		fmt.Fprintln(out, text)
		return
	}
	out.Flush() //nolint:errcheck // the last flush gives the first error
	fmt.Fprintf(c.terminal, "\x1b[%dm%s\x1b[0m\n", colour, printable.Text(text))
}
