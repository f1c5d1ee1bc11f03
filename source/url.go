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
	"github.com/dustin/go-humanize"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/fetch"
	"github.com/caddy-shortlink/shortlink/internal/turn"
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
// Redirects are followed to `https` only, and to private addresses only if the first server has no
// public one. Proxies of the environment (`HTTPS_PROXY`) are not used.
type URL struct {
	// The URL, which begins with `https://`; or with `http://`, if `minisign` is set. Placeholders
	// such as `{env.LINKS_URL}` are replaced whenever it is fetched. Messages show the URL as it is
	// written here, without the values of its query.
	URL string `json:"url,omitempty"`

	// Header fields of the requests. Placeholders such as `{env.LINKS_TOKEN}` or
	// `{file./run/secrets/token}` are replaced for each request. They are sent to the scheme, host
	// and port of the URL, and nowhere else.
	Headers http.Header `json:"headers,omitempty"`

	// How long fetching the rules may take in all, with signature and expectations. Default: `10s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// How many bytes the rules may have, uncompressed. Default: 268435456, which is 256 MiB.
	MaxSize int64 `json:"max_size,omitempty"`

	ContentOptions

	logger *zap.Logger
	client fetch.Client
	// kept is Caddy's storage. The keys of what is kept there begin with keptAt.
	kept   boundedStorage
	keptAt string

	mu       sync.Mutex  // held while something is fetched or read
	now      *fetched    // what was fetched last, without the text of rules that have been read
	isUnread bool        // a look has fetched it for the next Read
	failures int         // since the last success
	due      time.Time   // when to ask next
	read     turn.Signal // due is that of a Read, not of Watch

	lastRead       atomic.Pointer[fetched]
	served         atomic.Int64 // the time of the newest signature that has served
	isServedLoaded bool         // from Caddy's storage; mu guards it
	storing        sync.Mutex   // held while it is stored, which must not keep rules from being read
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
	var inLimits error
	if s.Timeout < 0 || s.MaxSize < 0 {
		inLimits = errors.New("timeout and max_size are more than 0, or left out")
	}
	s.now, s.read = new(fetched), turn.NewSignal()
	s.Timeout = cmp.Or(s.Timeout, caddy.Duration(10*time.Second))
	s.MaxSize = cmp.Or(s.MaxSize, maxBeside)
	s.client = fetch.Client{UserAgent: userAgent(ctx), MaxSize: s.MaxSize, IsPrivate: fetch.IsPrivate}
	targets, inURLs := s.targets()
	inOptions := s.provision(targets[ofRules].Path, 30*time.Second)
	// Servers that share a storage may replace placeholders differently, and fetch different rules.
	sum := sha256.Sum256(fmt.Append(nil, targets[ofRules], s.Headers, s.Minisign))
	s.kept = newBoundedStorage(ctx.Storage())
	s.keptAt = "shortlink/url/" + hex.EncodeToString(sum[:16])
	s.content.read, s.content.signature = s.open, s.beside(ofSignature)
	s.content.expectations = s.beside(ofExpectations)
	s.content.name, s.content.expectName = fetch.Mask(s.URL), fetch.Mask(s.Expect)
	s.logger = ctx.Logger().With(zap.Stringer("source", s))
	s.content.reach.CopyKey, s.content.reach.Served = s.keptAt+".json", s.recordServed
	return errors.Join(inURLs, inLimits, inOptions)
}

// userAgent names the version, and the handler that a source belongs to, as the context tells it. A
// command has none.
func userAgent(ctx caddy.Context) string {
	version, asker := "devel", "command"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range append(info.Deps, &info.Main) {
			if module.Path == "github.com/caddy-shortlink/shortlink" {
				version = cmp.Or(strings.Trim(module.Version, "()"), version)
			}
		}
	}
	for _, module := range ctx.Modules() {
		if named, is := module.(interface{ PublicName() string }); is {
			asker = "handler " + named.PublicName()
		}
	}
	return "caddy-shortlink/" + version + " (" + asker + ")"
}

// String returns the URL as it is written, without what may be secret.
func (s *URL) String() string { return s.content.name }

// Read fetches the rules, or reads what Watch has just fetched.
func (s *URL) Read(ctx context.Context, add func(resolver.Rule)) (version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isUnread {
		s.attempt(ctx, fetched{})
		s.read.Raise()
	}
	s.isUnread = false
	version, err = s.content.rules(ctx, add)
	s.now.state = s.content.seen.last()
	s.now.parts[ofRules].Text = nil // which may be large
	s.lastRead.Store(s.now)
	if ctx.Err() != nil {
		s.now = new(fetched) // of which it is not known whether it has been read
	}
	return version, err
}

// Watch asks the server for changes. See [Source].
func (s *URL) Watch(ctx context.Context, version string, changed func()) {
	s.recordServed(version)
	s.content.seen.begin(version)
	for {
		s.mu.Lock()
		next := time.After(time.Until(s.due))
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-s.read: // so the server no longer asks to be left alone, or does so now
		case <-next:
			if s.content.seen.lookAt(ctx, s.look) {
				changed()
			}
		}
	}
}

// Locate returns false: what serves would have to be fetched again.
func (*URL) Locate(context.Context, string, func(resolver.Rule)) (isThere bool) { return false }

const (
	headerTakes  = `takes a name and a value, such as Authorization "Bearer {env.LINKS_TOKEN}"`
	timeoutTakes = "takes a duration of at least 1ms, such as 30s"
	maxSizeTakes = "takes a size, such as 16MiB"
)

// UnmarshalCaddyfile sets up the source from what follows "from":
//
//	url <https_url> {
//		header <name> <value>   (again and again)
//		timeout <duration>
//		max_size <size>
//		<options of a file>
//	}
func (s *URL) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	s.Headers = http.Header{}
	var name, value, timeout, size string
	options := append(s.block(nil), BlockOption{
		Name: "header", Takes: headerTakes, Words: []*string{&name, &value}, Repeats: true,
		Check: func() error {
			s.Headers.Add(name, value)
			return nil
		},
	}, BlockOption{
		Name: "timeout", Takes: timeoutTakes, Words: []*string{&timeout}, Check: func() error {
			parsed, err := caddy.ParseDuration(timeout)
			if s.Timeout = caddy.Duration(parsed); err != nil || parsed < time.Millisecond {
				return fmt.Errorf("timeout %s, not %q", timeoutTakes, timeout)
			}
			return nil
		},
	}, BlockOption{
		Name: "max_size", Takes: maxSizeTakes, Words: []*string{&size}, Check: func() error {
			parsed, err := humanize.ParseBytes(size)
			if s.MaxSize = int64(parsed); err != nil || s.MaxSize <= 0 {
				return fmt.Errorf("max_size %s, not %q", maxSizeTakes, size)
			}
			return nil
		},
	})
	block := Block{Argument: "one URL", Value: &s.URL, Options: options, CheckLast: func() error {
		if strings.Contains(s.URL+s.Expect, "{") {
			return nil // Caddy may have other values for placeholders
		}
		_, err := s.targets()
		return err
	}}
	return block.Unmarshal(d)
}

// targets returns the URLs of the parts, placeholders replaced; nil for a part that there is not.
// The error contains none of them.
func (s *URL) targets() (all [len(partPrefixes)]*url.URL, err error) {
	all[ofRules] = new(url.URL)
	for i, written := range []string{ofRules: s.URL, ofExpectations: s.Expect} {
		if i == ofExpectations && written == "" {
			continue
		}
		target, err := url.Parse(caddy.NewReplacer().ReplaceKnown(written, ""))
		if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
			return all, fmt.Errorf("%q is no URL that begins with https:// and a host; if it has "+
				"placeholders, check what they are replaced by", fetch.Mask(written))
		}
		if target.Scheme == "http" && (s.Minisign == "" || i == ofExpectations || len(s.Headers) > 0 ||
			target.User != nil) {
			return all, fmt.Errorf("%q: write https://; with http:// anybody on the way could change "+
				"what is not signed by the key of minisign, and read header and passwords",
				fetch.Mask(written))
		}
		all[i] = target
	}
	if s.Minisign != "" {
		signature := *all[ofRules]
		signature.Path += ".minisig"
		signature.RawPath += ".minisig" // which is only used if it fits the path
		all[ofSignature] = &signature
	}
	return all, nil
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

// Interface guards
var (
	_ caddy.Provisioner     = (*URL)(nil)
	_ caddyfile.Unmarshaler = (*URL)(nil)
	_ Source                = (*URL)(nil)
)
