package source

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/resolver"
)

func init() {
	caddy.RegisterModule(new(URL))
}

// URL reads rules from an HTTPS server, such as object storage, a CDN, a repository's raw file or
// an application. It asks again and again whether they have changed, with ETag or Last-Modified.
//
// While the server cannot be reached or answers with an error, the last good rules serve. If Caddy
// starts then, a copy in Caddy's storage stands in. `POST .../reload` of the admin endpoint reads
// the rules at once, for example as a webhook of whoever publishes them.
//
// Redirects are followed to `https` only, and to private addresses only if the first server has
// one, too. Proxies of the environment (`HTTPS_PROXY`) are not used.
type URL struct {
	// The URL, which begins with `https://`; or with `http://`, if `minisign` is set. Placeholders
	// such as `{env.LINKS_URL}` are replaced whenever it is fetched. Messages show the URL as it is
	// written here, without the values of its query.
	URL string `json:"url,omitempty"`

	// Header fields of the requests. Placeholders such as `{env.LINKS_TOKEN}` or
	// `{file./run/secrets/token}` are replaced for each request. They are sent to the scheme, host
	// and port of the URL, and nowhere else.
	Headers http.Header `json:"headers,omitempty"`

	// How the rules are written: `json`, `csv`, or `redirects` for the `_redirects` of Netlify and
	// Cloudflare Pages. Default: by the Content-Type if it is JSON or CSV, else by the URL's path
	// (`*.json`, `*.csv`, `*.tsv`, `_redirects`), else `json`.
	Format string `json:"format,omitempty"`

	// How often the server is asked, as a duration; `off` for never. Pauses vary by 10 %.
	// Default: `30s`.
	Poll string `json:"poll,omitempty"`

	// The `https` URL of expectations: a JSON object from request path to destination, `pass`, `gone`
	// or `error`. Rules that do not meet them never serve. Default: none.
	Expect string `json:"expect,omitempty"`

	// A public key of minisign. The rules serve only with a signature by this key, at the URL whose
	// path has `.minisig` appended. Rules with an older signature than those that have served are
	// refused. Default: no signature is needed.
	Minisign string `json:"minisign,omitempty"`

	// How long fetching the rules may take in all, with signature and expectations. Default: `10s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// How many bytes the rules may have, uncompressed. Default: 268435456, which is 256 MiB.
	MaxSize int64 `json:"max_size,omitempty"`

	// Whether the rules may come to be none. A source that had rules, and has none any more, is
	// refused otherwise, as that is hardly ever meant. Default: they may not.
	AllowEmpty bool `json:"allow_empty,omitempty"`

	// What Caddy does if it starts while the URL cannot be read, and no copy of the rules is
	// stored: `refuse` to start, or start `without` these rules. Then the other rules serve, and until
	// the first reading a 404 of the next handler is a 503. Default: `refuse`.
	Start string `json:"start,omitempty"`

	RedirectsOptions

	content  content
	every    time.Duration // 0 for never
	handler  string        // whose rules they are
	network  network
	expected PlacedExpectations

	turn    chan struct{} // held while something is fetched; guards the fields below
	parts   []int         // what is fetched
	known   *fetched      // what was fetched last, without texts
	unread  *fetched      // what a look has fetched for the next Read
	polling polling

	floor   floor
	storage certmagic.Storage
	logger  *zap.Logger
}

// CaddyModule returns the module's ID and constructor.
func (*URL) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.shortlink.sources.url",
		New: func() caddy.Module { return new(URL) },
	}
}

// Provision checks the options. The error lists all that is wrong with them. It does not connect:
// Read and Watch do.
func (s *URL) Provision(ctx caddy.Context) error {
	s.turn, s.storage, s.logger = make(chan struct{}, 1), ctx.Storage(), ctx.Logger()
	s.network.isPrivate = isPrivate
	s.Timeout = cmp.Or(s.Timeout, caddy.Duration(10*time.Second))
	s.MaxSize = cmp.Or(s.MaxSize, maxBeside)
	s.content.name, s.content.expectName = shownURL(s.URL), shownURL(s.Expect)
	s.content.allowsEmpty, s.known, s.parts = s.AllowEmpty, new(fetched), []int{ofRules}
	var inPoll, inKey, inFormat, inReading error
	s.every, inPoll = ParsePoll(s.Poll, 30*time.Second)
	s.content.publicKey, inKey = parsePublicKey(s.Minisign)
	s.content.format, inFormat = formatOf(s.Format, "")
	if s.Format != "" {
		_, inReading = s.readingAs(s.content.format)
	}
	if s.Minisign != "" {
		s.parts = append(s.parts, ofSignature)
	}
	if s.Expect != "" {
		s.parts = append(s.parts, ofExpectations)
	}
	s.content.reach.CopyKey = s.storageKey(".json")
	var inStart error
	s.content.reach.StartsWithout, inStart = ParseStart(s.Start)
	return errors.Join(s.checkURLs(), s.checkLimits(), inPoll, inKey, inFormat, inReading, inStart)
}

// String returns the URL as it is written, without what may be secret.
func (s *URL) String() string { return s.content.name }

// Read fetches the rules, or reads what Watch has just fetched. The version tells the time of the
// signature.
func (s *URL) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	f := s.newest(ctx)
	if f.err == nil {
		s.content.format = f.format
		s.content.reading, f.err = s.readingAs(f.format)
	}
	s.content.read, s.content.signature, s.content.expectations = f.read, f.signature, f.expectations
	s.expected, version, err = s.content.rules(ctx, add)
	f.parts = [len(partNames)]part{} // which may be large
	return f.signed.mark(version), err
}

// Watch asks the server for changes. See [Source].
func (s *URL) Watch(ctx context.Context, version string, changed func()) {
	s.Serves(version)
	_, version = unmark(version)
	s.content.seen.begin(version)
	for {
		pause, isOver := s.polling.next(s.every)
		if isOver {
			<-ctx.Done()
			return
		}
		if sleep(ctx, pause) != nil {
			return
		}
		if s.content.seen.lookAt(ctx, s.look) {
			changed()
		}
	}
}

// Locate returns false: what serves would have to be fetched again.
func (*URL) Locate(context.Context, string, func(resolver.Rule)) (isThere bool) { return false }

// Remarks returns the remarks of the last reading; see [Annotated].
func (s *URL) Remarks() Remarks { return Remarks{s.expected, s.content.warnings} }

// AllowsEmpty reports whether the rules may come to be none; see [Emptiable].
func (s *URL) AllowsEmpty() bool { return s.AllowEmpty }

// Reach returns whether the rules can be fetched; see [Observed].
func (s *URL) Reach() *Reachability { return &s.content.reach }

// ReadFor receives the name of the handler, for the requests' User-Agent; see [Attributed].
func (s *URL) ReadFor(handler string) { s.handler = handler }

// Interface guards
var (
	_ caddy.Provisioner = (*URL)(nil)
	_ Source            = (*URL)(nil)
	_ Annotated         = (*URL)(nil)
	_ Emptiable         = (*URL)(nil)
	_ Observed          = (*URL)(nil)
	_ Attributed        = (*URL)(nil)
	_ Serving           = (*URL)(nil)
)
