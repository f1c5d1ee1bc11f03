package shortlink

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// isTerminal reports whether what is written to w is seen by somebody at once.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// progress tells somebody at a terminal that long work goes on; others get nothing.
type progress struct {
	w     io.Writer // nil for nobody
	what  string
	begun time.Time
	shown time.Time
}

// newProgress returns the progress of some work.
func newProgress(w io.Writer, what string) *progress {
	if !isTerminal(w) {
		w = nil
	}
	now := time.Now()
	return &progress{w: w, what: what, begun: now, shown: now}
}

// step tells how long it has taken so far, twice a second.
func (p *progress) step() {
	const often = 500 * time.Millisecond
	if p.w == nil || time.Since(p.shown) < often {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.w, "\r%s: %.1f s", p.what, p.shown.Sub(p.begun).Seconds())
}

// end clears what has been told.
func (p *progress) end() {
	if p.w != nil && p.shown != p.begun {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// colours marks words for people at a terminal.
type colours bool

// coloursFor returns whether output to w has colours: at a terminal, unless the environment says NO_COLOR.
func coloursFor(w io.Writer) colours {
	return colours(os.Getenv("NO_COLOR") == "" && isTerminal(w))
}

// The colours, as terminals number them.
const (
	red    = 31
	green  = 32
	yellow = 33
	bold   = 1
)

// paint returns text in a colour.
func (c colours) paint(colour int, text string) string {
	if !c {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}
