package rulefile

import (
	"io"

	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// readRedirects reads rules from the lines of a _redirects file, and passes each line to seen, if
// that is not nil. The rules are passed to add after all lines have been read, because they depend
// on later lines, too.
func (o Reading) readRedirects(
	lines *LineReader, seen func(redirects.Line), add func(resolver.Rule),
) ([]lint.Warning, error) {
	reports := NewReports(false)
	options := o.RedirectsOptions()
	options.Report = reports.Add
	t := redirects.NewTable(options)
	end := o.addLines(t, lines, seen)
	t.Rules(add)
	return reports.Result(end)
}

// RedirectsOptions are the options of a table of _redirects lines, without its Report.
func (o Reading) RedirectsOptions() redirects.Options {
	return redirects.Options{
		Slashes: o.Dialect.slashes(), EndsThere: true, PairsBelow: true,
		RefusedIsWrong: !o.SkipUnsupported,
	}
}

// slashes is the meaning of a slash at the end of a path.
func (d Dialect) slashes() redirects.Slashes {
	if d == Cloudflare {
		return redirects.SlashesKept
	}
	return redirects.SlashesIgnored
}

// ReadLines adds the lines of a _redirects file to a table. The error is what ended the reading.
func (o Reading) ReadLines(t *redirects.Table, r io.Reader, source string) error {
	return o.addLines(t, NewLineReader(r, source), nil)
}

// addLines is ReadLines that also passes each line to seen, if that is not nil.
func (o Reading) addLines(t *redirects.Table, lines *LineReader, seen func(redirects.Line)) error {
	p := lineParser{dialect: o.Dialect, hosts: o.Hosts}
	for {
		text, err := lines.Next()
		if err != nil {
			return err
		}
		if t.IsGivenUp(lines.At(1)) {
			return io.EOF
		}
		p.parse(string(text))
		p.addTo(t, lines.At)
		if seen == nil || p.refused != nil {
			continue
		}
		if line := p.translate(lines.At); p.refused == nil {
			seen(line)
		}
	}
}

// AddLine adds a line in the form of _redirects from another file, such as a netlify.toml, with one
// position. why, if not nil, is why it has no equivalent.
func (o Reading) AddLine(t *redirects.Table, at resolver.Position, text string, why error) {
	p := lineParser{dialect: o.Dialect, hosts: o.Hosts}
	p.parse(text)
	if why != nil {
		p.refuse(unsupported, p.from, "%s", why)
	}
	p.addTo(t, func(int) resolver.Position { return at })
}
