package rulefile

import (
	"io"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// RedirectsOptions are the options of a table of lines of _redirects, without Report.
func (o Reading) RedirectsOptions() redirects.Options { return redirects.Options{} }

// ReadLines adds the lines of a _redirects file to a table. The error is what ended the reading.
func (o Reading) ReadLines(t *redirects.Table, r io.Reader, source string) error { return io.EOF }

// AddLine adds what a line of _redirects says that stands somewhere else, as in a netlify.toml: all
// places are at, and why is a reason for which it has no equivalent, or nil.
func (o Reading) AddLine(t *redirects.Table, at resolver.Position, text string, why error) {}
