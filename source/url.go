package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
	"github.com/dustin/go-humanize"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
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
	client   fetch.Client
	expected PlacedExpectations

	mu       sync.Mutex // held while something is fetched
	known    *fetched   // what was fetched last, without the text of the rules
	unread   *fetched   // what a look has fetched for the next Read
	hasAsked bool
	failures int       // since the last success
	notUntil time.Time // when to ask again at the earliest, as the server has asked for

	lastRead       atomic.Pointer[fetched] // without the text of the rules
	served         atomic.Int64            // the time of the newest signature that has served
	isServedLoaded bool                    // from Caddy's storage; mu guards it
	storing        sync.Mutex              // held while it is stored

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
	s.storage, s.logger, s.known = ctx.Storage(), ctx.Logger(), new(fetched)
	s.Timeout = cmp.Or(s.Timeout, caddy.Duration(10*time.Second))
	s.MaxSize = cmp.Or(s.MaxSize, maxBeside)
	s.client = fetch.Client{UserAgent: userAgent(ctx), MaxSize: s.MaxSize, IsPrivate: fetch.IsPrivate}
	s.content.name, s.content.expectName = fetch.Mask(s.URL), fetch.Mask(s.Expect)
	s.content.allowsEmpty = s.AllowEmpty
	var inPoll, inKey, inFormat, inReading, inLimits, inStart error
	s.every, inPoll = ParsePoll(s.Poll, 30*time.Second)
	s.content.publicKey, inKey = parsePublicKey(s.Minisign)
	s.content.format, inFormat = formatOf(s.Format, "")
	if s.Format != "" {
		_, inReading = s.readingAs(s.content.format)
	}
	if s.Timeout < 0 || s.MaxSize < 0 || s.MaxSize > largestMaxSize {
		inLimits = errors.New("timeout " + timeoutTakes + "; max_size " + maxSizeTakes)
	}
	s.content.reach.CopyKey = s.storageKey(".json")
	s.content.reach.Served = s.recordServed
	s.content.reach.StartsWithout, inStart = ParseStart(s.Start)
	return errors.Join(s.checkURLs(), inLimits, inPoll, inKey, inFormat, inReading, inStart)
}

// userAgent names the version, and the handler that a source belongs to, as the context tells it.
func userAgent(ctx caddy.Context) string {
	const modulePath = "github.com/caddy-shortlink/shortlink"
	version, handler := "devel", "shortlink"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == modulePath && strings.HasPrefix(module.Version, "v") {
				version = module.Version
			}
		}
	}
	for _, module := range ctx.Modules() {
		if named, is := module.(interface{ PublicName() string }); is {
			handler = named.PublicName()
		}
	}
	return "caddy-shortlink/" + version + " (handler " + handler + ")"
}

// String returns the URL as it is written, without what may be secret.
func (s *URL) String() string { return s.content.name }

// Read fetches the rules, or reads what Watch has just fetched.
func (s *URL) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	f := s.newest(ctx)
	s.content.format, s.content.reading, s.content.read = f.format, f.reading, f.read
	s.content.signature, s.content.expectations = f.text(ofSignature), f.text(ofExpectations)
	s.expected, version, err = s.content.rules(ctx, add)
	f.parts[ofRules].Text = nil // which may be large
	s.lastRead.Store(f)
	return version, err
}

// Watch asks the server for changes. See [Source].
func (s *URL) Watch(ctx context.Context, version string, changed func()) {
	s.recordServed(version)
	s.content.seen.begin(version)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.nextPoll():
			if s.content.seen.lookAt(ctx, s.look) {
				changed()
			}
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

const (
	largestMaxSize = 4 << 30 // that of a rule file

	headerTakes  = `takes a name and a value, such as Authorization "Bearer {env.LINKS_TOKEN}"`
	timeoutTakes = "takes a duration of at least 1ms, such as 30s"
	maxSizeTakes = "takes a size of at most 4GiB, such as 16MiB"
)

// UnmarshalCaddyfile sets up the source from what follows "from":
//
//	url <https_url> {
//		header <name> <value>
//		format <json|csv|redirects>
//		poll <interval|off>
//		timeout <duration>
//		max_size <size>
//		expect <https_url>
//		minisign <public_key>
//		start <refuse|without>
//		allow_empty
//		dialect <netlify|cloudflare>
//		unsupported <error|skip>
//		host <name>...
//	}
//
// header can be given again and again.
func (s *URL) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	at := fmt.Sprintf("%s:%d", d.File(), d.Line())
	d.Prev()
	s.Headers = http.Header{}
	var name, value, timeout, size string
	options := contentOptions(nil, &s.Format, &s.Poll, &s.Expect, &s.Minisign,
		&s.Start, &s.AllowEmpty, &s.RedirectsOptions)
	options = append(options, BlockOption{
		Name: "header", Takes: headerTakes, Words: []*string{&name, &value}, Repeats: true,
		Check: func() error {
			s.Headers.Add(name, value)
			return nil
		},
	}, BlockOption{
		Name: "timeout", Takes: timeoutTakes, Words: []*string{&timeout}, Check: func() error {
			parsed, err := caddy.ParseDuration(timeout)
			if s.Timeout = caddy.Duration(parsed); err != nil || parsed < time.Millisecond {
				err = fmt.Errorf("timeout %s, not %q", timeoutTakes, timeout)
			}
			return err
		},
	}, BlockOption{
		Name: "max_size", Takes: maxSizeTakes, Words: []*string{&size}, Check: func() error {
			parsed, err := humanize.ParseBytes(size)
			if s.MaxSize = int64(parsed); err != nil || parsed == 0 || parsed > largestMaxSize {
				err = fmt.Errorf("max_size %s, not %q", maxSizeTakes, size)
			}
			return err
		},
	})
	block := Block{Argument: "one URL", Value: &s.URL, Options: options}
	err := block.Unmarshal(d)
	if err == nil && !strings.Contains(s.URL+s.Expect, "{") {
		if err = s.checkURLs(); err != nil {
			err = fmt.Errorf("%s: from url: %w", at, err)
		}
	}
	return err
}

// checkURLs checks the URLs with what replaces their placeholders now.
func (s *URL) checkURLs() (err error) {
	for i := range partPrefixes {
		_, wrong := s.target(i)
		err = cmp.Or(err, wrong)
	}
	return err
}

// target returns the URL of a part, placeholders replaced, or nil if there is no such part. The
// error does not contain it.
func (s *URL) target(i int) (*url.URL, error) {
	written := s.URL
	switch {
	case i == ofSignature && s.Minisign == "", i == ofExpectations && s.Expect == "":
		return nil, nil
	case i == ofExpectations:
		written = s.Expect
	}
	target, err := url.Parse(caddy.NewReplacer().ReplaceKnown(written, ""))
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return nil, fmt.Errorf("%q is no URL that begins with https:// and a host; if it has "+
			"placeholders, check what they are replaced by", fetch.Mask(written))
	}
	if target.Scheme == "http" && (s.Minisign == "" || i == ofExpectations || len(s.Headers) > 0 ||
		target.User != nil) {
		return nil, fmt.Errorf("%q: write https://; with http:// anybody on the way could change what "+
			"is not signed by the key of minisign, and read header and passwords", fetch.Mask(written))
	}
	if i == ofSignature {
		target.Path += ".minisig"
		if target.RawPath != "" {
			target.RawPath += ".minisig"
		}
	}
	return target, nil
}

// header returns the header fields of requests for the rules, placeholders replaced.
func (s *URL) header(rules *url.URL) http.Header {
	header, replacer := http.Header{}, caddy.NewReplacer()
	for name, values := range s.Headers {
		for _, value := range values {
			header.Add(name, replacer.ReplaceKnown(value, ""))
		}
	}
	if rules.User != nil && header.Get("Authorization") == "" {
		password, _ := rules.User.Password()
		(&http.Request{Header: header}).SetBasicAuth(rules.User.Username(), password)
	}
	return header
}

// storageKey returns a key in Caddy's storage for what this source keeps there. It depends on what
// replaces the placeholders of the URL: servers that share a storage may fetch different rules.
func (s *URL) storageKey(suffix string) string {
	target, _ := s.target(ofRules)
	sum := sha256.Sum256(fmt.Append(nil, target, s.Headers, s.Minisign))
	return "shortlink/url/" + hex.EncodeToString(sum[:16]) + suffix
}

// Interface guards
var (
	_ caddy.Provisioner     = (*URL)(nil)
	_ caddyfile.Unmarshaler = (*URL)(nil)
	_ Source                = (*URL)(nil)
	_ Annotated             = (*URL)(nil)
	_ Emptiable             = (*URL)(nil)
	_ Observed              = (*URL)(nil)
)
