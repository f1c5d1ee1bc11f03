package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

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
	var name, value, timeout, size string
	options := contentOptions(nil, &s.Format, &s.Poll, &s.Expect, &s.Minisign,
		&s.Start, &s.AllowEmpty, &s.RedirectsOptions)
	options = append(options, BlockOption{
		Name: "header", Takes: headerTakes, Words: []*string{&name, &value}, Repeats: true,
		Check: func() error {
			if s.Headers == nil {
				s.Headers = http.Header{}
			}
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

// checkLimits checks the options timeout and max_size.
func (s *URL) checkLimits() error {
	if s.Timeout < 0 || s.MaxSize < 0 || s.MaxSize > largestMaxSize {
		return errors.New("timeout " + timeoutTakes + "; max_size " + maxSizeTakes)
	}
	return nil
}

// checkURLs checks the URLs with what replaces their placeholders now.
func (s *URL) checkURLs() (err error) {
	for i := range partNames {
		if i != ofExpectations || s.Expect != "" {
			_, wrong := s.target(i)
			err = cmp.Or(err, wrong)
		}
	}
	return err
}

// target returns the URL of a part, placeholders replaced. The error does not contain it.
func (s *URL) target(i int) (*url.URL, error) {
	written := s.URL
	if i == ofExpectations {
		written = s.Expect
	}
	target, err := url.Parse(caddy.NewReplacer().ReplaceKnown(written, ""))
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return nil, fmt.Errorf("%q is no URL that begins with https:// and a host; if it has "+
			"placeholders, check what they are replaced by", shownURL(written))
	}
	if target.Scheme == "http" && (s.Minisign == "" || i == ofExpectations || s.Headers != nil ||
		target.User != nil) {
		return nil, fmt.Errorf("%q: write https://; with http:// anybody on the way could change what "+
			"is not signed by the key of minisign, and read header and passwords", shownURL(written))
	}
	if i == ofSignature {
		target.Path += ".minisig"
		if target.RawPath != "" {
			target.RawPath += ".minisig"
		}
	}
	return target, nil
}

// shownURL returns a URL without what may be secret: the values of its query, user and password.
func shownURL(written string) string {
	written, _, _ = strings.Cut(written, "#")
	address, query, hasQuery := strings.Cut(written, "?")
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		address = scheme + "://***" + rest[at:]
	}
	if hasQuery {
		pairs := strings.Split(query, "&")
		for i, pair := range pairs {
			name, _, hasValue := strings.Cut(pair, "=")
			if pairs[i] = "***"; hasValue {
				pairs[i] = name + "=***"
			}
		}
		address += "?" + strings.Join(pairs, "&")
	}
	return printable.Text(address)
}

// storageKey returns a key in Caddy's storage for what this source keeps there. It depends on what
// replaces the placeholders of the URL: servers that share a storage may fetch different rules.
func (s *URL) storageKey(suffix string) string {
	target, _ := s.target(ofRules)
	sum := sha256.Sum256(fmt.Append(nil, target, s.Headers, s.Minisign))
	return "shortlink/url/" + hex.EncodeToString(sum[:16]) + suffix
}

// Interface guard
var _ caddyfile.Unmarshaler = (*URL)(nil)
