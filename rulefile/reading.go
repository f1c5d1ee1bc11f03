package rulefile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// Dialect is the service whose rules a _redirects file follows. The zero value means [Netlify].
type Dialect string

// The dialects.
const (
	Netlify    Dialect = "netlify"
	Cloudflare Dialect = "cloudflare"
)

// ParseDialect returns the dialect that name stands for: netlify or cloudflare.
func ParseDialect(name string) (Dialect, error) {
	switch d := Dialect(name); d {
	case Netlify, Cloudflare:
		return d, nil
	}
	return "", fmt.Errorf("the dialects are netlify and cloudflare, not %q", name)
}

// Reading says how to read a file of rules. The zero value reads _redirects as Netlify does, and
// refuses lines without an equivalent.
type Reading struct {
	// Dialect is the dialect of a _redirects file.
	Dialect Dialect
	// SkipUnsupported leaves out lines that are valid at the service and have no equivalent, with a
	// warning each; otherwise they are errors.
	SkipUnsupported bool
	// Hosts are the hosts of the site, as [weburl.ParseHost] returns them. A line for a single host,
	// of a _redirects file or of another program, becomes a rule only for one of these.
	Hosts []string
	// Lends allows the strings of a rule to be valid only until add returns, which saves memory:
	// scanning a large file leaves no garbage.
	Lends bool

	// Status and Query are defaults for rules for which the file says nothing; Exact, if not nil,
	// is the default of [resolver.Rule.Exact]. A _redirects file always says the status and whether
	// a rule is exact.
	Status int
	Query  resolver.QueryMode
	Exact  *bool
}

// Read reads rules in a format. Each is passed to add; its position is source, and the line and
// column of its key. The warnings, sorted by position, say where rules may not do what their author
// expects. The error is an [Errors] that lists everything that is not a rule, or the reader's own.
func (o Reading) Read(
	r io.Reader, format Format, source string, add func(resolver.Rule),
) (warnings []lint.Warning, err error) {
	const enough = 512
	text := bufio.NewReaderSize(r, roomFor(r, 16<<10))
	begin, _ := text.Peek(enough)
	const instead = "write the format json, or give the file a name that ends in .json"
	if err := CheckBeginning(begin, format, instead); err != nil {
		return nil, Errors{{resolver.Position{Source: source, Line: 1, Column: 1}, err.Error()}}
	}
	switch format {
	case JSON:
		return nil, o.readJSON(text, source, o.withDefaults(add))
	case CSV:
		rows := NewRows(text, source)
		rows.lends = o.Lends
		first, err := rows.Next()
		return o.ReadRows(rows, first, err, add)
	case Redirects:
		if _, err := ParseDialect(cmp.Or(string(o.Dialect), string(Netlify))); err != nil {
			return nil, err
		}
		return o.readRedirects(NewLineReader(text, source), nil, o.withDefaults(add))
	}
	_, err = ParseFormat(string(format))
	return nil, err
}

// isExact reports whether a rule is exact if the file does not say it.
func (o Reading) isExact() bool { return o.Exact != nil && *o.Exact }

// withDefaults returns add with defaults for status and query.
func (o Reading) withDefaults(add func(resolver.Rule)) func(resolver.Rule) {
	if o.Status == 0 && o.Query == resolver.QueryDefault {
		return add
	}
	return func(rule resolver.Rule) {
		add(schedule.Each(rule, func(rule *resolver.Rule) {
			if rule.Value != resolver.GoneValue && rule.Value != resolver.PassValue {
				rule.Status = cmp.Or(rule.Status, o.Status)
				rule.Query = cmp.Or(rule.Query, o.Query)
			}
		}))
	}
}
