// Package fetch fetches a resource over HTTP, for a server that asks for it again and again. A
// [Client] gets a [Resource], unless it is the one that is known. An error stays the same for as
// long as what is wrong does, and contains no URL, which may have secrets; [Mask] removes them from
// a URL. The package imports internal/printable, and knows no rules.
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

// Client says how resources are fetched.
type Client struct {
	UserAgent string
	MaxSize   int64 // of a text, uncompressed, in bytes
	// Header goes to the scheme, host and port of HeaderFor, and nowhere else.
	Header    http.Header
	HeaderFor *url.URL
	IsPrivate func(netip.AddrPort) bool // such as [IsPrivate]
	TLS       *tls.Config               // nil for the certificate authorities of the system
	Transport http.RoundTripper         // nil for connections of its own
}

// Resource is what lies at a URL.
type Resource struct {
	Text           []byte // not nil
	Host           string // which has sent it
	IsRedirected   bool   // to there
	MediaType      string
	ETag, Modified string // by which the server is asked whether the resource has changed
}

// Get fetches a resource, or returns the known one if it has not changed; nothing is known of the
// zero one. Redirects are followed to https, and from a server with a public address to no private
// one.
func (c *Client) Get(ctx context.Context, from *url.URL, known Resource) (got Resource, err error) {
	const most = 5 // redirects
	target := from
	defer func() {
		if err != nil {
			err = fmt.Errorf("%.253s: %w", target.Host, err)
		}
	}()
	var isPublic atomic.Bool
	for followed := 0; ; followed++ {
		response, err := c.transport(followed > 0, &isPublic).RoundTrip(c.newRequest(ctx, target, known))
		if err != nil {
			return got, advise(err)
		}
		defer response.Body.Close()
		if response.StatusCode/100 != 3 || response.StatusCode == http.StatusNotModified {
			got, err = c.receive(response, known)
			got.Host, got.IsRedirected = target.Host, followed > 0
			return got, err
		}
		to, err := response.Location()
		switch {
		case err != nil || to.Host == "":
			return got, errors.New("it redirects without a valid Location; write the URL of the file itself")
		case to.Scheme != "https":
			return got, fmt.Errorf("it redirects to %.10s://%.253s, and redirects are followed to https "+
				"only; write the https URL of the file itself", to.Scheme, to.Host)
		case followed == most:
			return got, fmt.Errorf("it redirects more than %d times, at last to %.253s; write the URL of "+
				"the file itself, or check whether it asks to sign in", followed, to.Host)
		}
		target = to
	}
}

func (c *Client) newRequest(ctx context.Context, target *url.URL, known Resource) *http.Request {
	header := http.Header{"User-Agent": {c.UserAgent}}
	if known.ETag != "" {
		header.Set("If-None-Match", known.ETag)
	} else if known.Modified != "" {
		header.Set("If-Modified-Since", known.Modified)
	}
	if own := c.HeaderFor; own != nil && target.Scheme == own.Scheme && target.Host == own.Host {
		maps.Copy(header, c.Header)
	}
	request := &http.Request{Method: http.MethodGet, URL: target, Header: header}
	return request.WithContext(ctx)
}

// receive reads a response to the end.
func (c *Client) receive(response *http.Response, known Resource) (got Resource, err error) {
	header := response.Header
	coding := header.Get("Content-Encoding")
	switch {
	case response.StatusCode == http.StatusNotModified && known.ETag+known.Modified != "":
		return known, nil
	case response.StatusCode != http.StatusOK:
		return got, &StatusError{response.StatusCode, retryAfter(header)}
	case coding != "" && coding != "identity":
		return got, fmt.Errorf("its Content-Encoding is %.40q; let it be zstd, gzip or none", coding)
	}
	got.ETag, got.Modified = header.Get("ETag"), header.Get("Last-Modified")
	got.MediaType, _, _ = mime.ParseMediaType(header.Get("Content-Type"))
	var text bytes.Buffer
	_, err = text.ReadFrom(io.LimitReader(response.Body, c.MaxSize+1))
	switch {
	case err != nil:
		return got, advise(err)
	case int64(text.Len()) > c.MaxSize:
		return got, fmt.Errorf("it is longer than %s; set max_size if that is meant",
			humanize.IBytes(uint64(c.MaxSize)))
	}
	got.Text = text.Bytes()
	return got, nil
}

// StatusError is the error of a response without a resource.
type StatusError struct {
	Code       int
	RetryAfter time.Duration // how long the server asks to be left alone
}

// Error tells the status, and what to do about it.
func (e *StatusError) Error() string {
	return fmt.Sprintf("it answers %d %s%s", e.Code, http.StatusText(e.Code), statusAdvice[e.Code])
}

// retryAfter returns how long a response asks to wait. A time is one of the server's clock.
func retryAfter(header http.Header) time.Duration {
	written := header.Get("Retry-After")
	seconds, err := strconv.ParseUint(written, 10, 31) // the largest number, if it is larger
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(written)
	now, inDate := http.ParseTime(header.Get("Date"))
	if err != nil || inDate != nil {
		return 0
	}
	return max(0, until.Sub(now))
}
