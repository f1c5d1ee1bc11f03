package source

import (
	"context"
	"errors"
	"time"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// ContentOptions are the options of a source whose rules are one text: a file, a storage entry, or
// what lies at a URL.
type ContentOptions struct {
	// How the rules are written: `json`, `csv`, or `redirects` for the `_redirects` of Netlify and
	// Cloudflare Pages. Default: by the name (`*.json`, `*.csv`, `*.tsv`, `_redirects`), else `json`.
	// At a URL, a Content-Type of JSON or CSV comes first.
	Format string `json:"format,omitempty"`

	// How often the source is looked at, as a duration; `off` for never. Default: `2s` for a file,
	// `5s` for a storage entry, and `30s` for a URL, where pauses vary by 10 %.
	Poll string `json:"poll,omitempty"`

	// The path, key or `https` URL of expectations: a JSON object from request path to destination,
	// `pass`, `gone` or `error`. Rules that do not meet them never serve. Default: none.
	Expect string `json:"expect,omitempty"`

	// A public key of minisign. The rules serve only with a signature by this key, which lies beside
	// them: at the same path or key with `.minisig` appended. Rules of a URL are also refused if
	// others with a newer signature have served. Default: no signature is needed.
	Minisign string `json:"minisign,omitempty"`

	// Whether the rules may come to be none. A source that had rules, and has none any more, is
	// refused otherwise, as that is hardly ever meant. Default: they may not.
	AllowEmpty bool `json:"allow_empty,omitempty"`

	// What Caddy does if it starts while the source cannot be read, and no copy of the rules is
	// stored: `refuse` to start, or start `without` these rules. Then the other rules serve, and until
	// the first reading a 404 of the next handler is a 503. Default: `refuse`.
	Start string `json:"start,omitempty"`

	RedirectsOptions

	content content
	every   time.Duration // between polls; 0 for never
}

// provision checks the options of a source whose name may tell the format. The error lists all that
// is wrong with them.
func (o *ContentOptions) provision(name string, poll time.Duration) error {
	var inFormat, inReading, inPoll, inKey, inStart error
	o.content.allowsEmpty = o.AllowEmpty
	o.content.format, inFormat = formatOf(o.Format, name)
	o.content.reading, inReading = o.readingAs(o.content.format)
	o.every, inPoll = ParsePoll(o.Poll, poll)
	o.content.publicKey, inKey = parsePublicKey(o.Minisign)
	o.content.reach.StartsWithout, inStart = ParseStart(o.Start)
	return errors.Join(inFormat, inReading, inPoll, inKey, inStart)
}

// block returns the options for the Caddyfile. The name tells the format; nil if something else
// may.
func (o *ContentOptions) block(name *string) []BlockOption {
	return append([]BlockOption{
		parsedOption("format", "", &o.Format, rulefile.ParseFormat),
		PollOption(&o.Poll),
		{Name: "expect", Words: []*string{&o.Expect}},
		parsedOption("minisign", "", &o.Minisign, parsePublicKey),
		StartOption(&o.Start),
		{Name: "allow_empty", Takes: "stands alone", Flag: &o.AllowEmpty},
	}, o.RedirectsOptions.block(&o.Format, name)...)
}

// Read reads the rules.
func (o *ContentOptions) Read(
	ctx context.Context, add func(resolver.Rule),
) (version string, err error) {
	return o.content.rules(ctx, add)
}

// Locate passes the rules with their lines, if they have not changed; see [Annotated].
func (o *ContentOptions) Locate(
	ctx context.Context, version string, seen func(resolver.Rule),
) (isThere bool) {
	return o.content.locate(ctx, version, seen)
}

// Written returns a rule as the source has it; see [Writable].
func (o *ContentOptions) Written(rule resolver.Rule) (string, error) {
	return rulefile.Written(rule, o.content.format)
}

// Remarks returns the remarks of the last reading; see [Annotated].
func (o *ContentOptions) Remarks() Remarks {
	return Remarks{o.content.expected, o.content.warnings}
}

// AllowsEmpty reports whether the rules may come to be none; see [Emptiable].
func (o *ContentOptions) AllowsEmpty() bool { return o.AllowEmpty }

// Reach returns whether the rules can be read; see [Observed].
func (o *ContentOptions) Reach() *Reachability { return &o.content.reach }
