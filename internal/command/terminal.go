package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// terminalOf returns the terminal at which somebody sees at once what is written to w, or nil.
func terminalOf(w io.Writer) *os.File {
	if safe, ok := w.(*printable.Writer); ok {
		w = safe.Unwrap()
	}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return file
}

// progress tells somebody at a terminal that long work goes on; others get nothing.
type progress struct {
	w     *os.File // nil for nobody
	what  string
	begun time.Time
	shown time.Time
}

// newProgress returns the progress of some work.
func newProgress(w io.Writer, what string) *progress {
	now := time.Now()
	return &progress{w: terminalOf(w), what: what, begun: now, shown: now}
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

// end clears what has been told, and tells nothing more.
func (p *progress) end() {
	if p.w != nil && p.shown != p.begun {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.w = nil
}

// colours marks headings for people at a terminal.
type colours struct {
	terminal *os.File // nil for no colours
}

// coloursFor returns whether output to w has colours: at a terminal, unless the environment says
// NO_COLOR.
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

// heading writes a line in a colour: at the terminal itself, as what passes through out has no
// escapes.
func (c colours) heading(out *bufio.Writer, colour int, text string) {
	if c.terminal == nil {
		fmt.Fprintln(out, text)
		return
	}
	out.Flush() //nolint:errcheck // the last flush gives the first error
	fmt.Fprintf(c.terminal, "\x1b[%dm%s\x1b[0m\n", colour, printable.Text(text))
}
