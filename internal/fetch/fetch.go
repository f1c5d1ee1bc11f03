// Package fetch fetches a resource over HTTP, for a server that asks for it again and again. A
// [Client] gets a [Resource], unless it is the one that is known. An error stays the same for as
// long as what is wrong does, and contains no URL, which may have secrets; [Mask] removes them from
// a URL. The package imports internal/printable, and knows no rules.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// mostRedirects is how many redirects are followed.
const mostRedirects = 5

// Client says how resources are fetched. It may be used concurrently.
type Client struct {
	UserAgent string
	MaxSize   int64                     // of a text, uncompressed, in bytes
	IsPrivate func(netip.AddrPort) bool // such as [IsPrivate]
	TLS       *tls.Config               // nil for the certificate authorities of the system
	Transport http.RoundTripper         // nil for connections of its own
}

// Resource is what lies at a URL.
type Resource struct {
	Text      []byte
	MediaType string
	// ETag and Modified are the validators of the response, by which the server is asked whether the
	// resource has changed.
	ETag, Modified string
}

// Get fetches a resource, or returns the known one if it has not changed; nothing is known of the
// zero one. The header goes to the scheme, host and port of the URL, and nowhere else. Redirects
// are followed to https, and not to a private address unless the first server has one.
func (c *Client) Get(
	ctx context.Context, from *url.URL, header http.Header, known Resource,
) (Resource, error) {
	target, mayBePrivate := from, true
	for followed := 0; ; followed++ {
		request := c.newRequest(target, known)
		if target.Scheme == from.Scheme && target.Host == from.Host {
			maps.Copy(request.Header, header)
		}
		response, isPrivate, err := c.send(ctx, request, mayBePrivate)
		if err != nil {
			return Resource{}, fmt.Errorf("%s: %w", target.Host, reasonOf(err))
		}
		defer response.Body.Close()
		if !redirects(response) {
			return c.receive(response, known)
		}
		if target, err = locationOf(response, followed); err != nil {
			return Resource{}, err
		}
		if followed == 0 {
			mayBePrivate = isPrivate
		}
	}
}

func (c *Client) newRequest(target *url.URL, known Resource) *http.Request {
	header := http.Header{"User-Agent": {c.UserAgent}, "Accept-Encoding": {accepted}}
	if known.ETag != "" {
		header.Set("If-None-Match", known.ETag)
	} else if known.Modified != "" {
		header.Set("If-Modified-Since", known.Modified)
	}
	return &http.Request{Method: http.MethodGet, URL: target, Header: header}
}

func redirects(response *http.Response) bool {
	return response.StatusCode/100 == 3 && response.StatusCode != http.StatusNotModified
}

// locationOf returns where a response redirects to, after some redirects that were followed.
func locationOf(response *http.Response, followed int) (*url.URL, error) {
	to, err := response.Location()
	switch {
	case err != nil || to.Host == "":
		return nil, errors.New("it redirects without a valid Location")
	case to.Scheme != "https":
		return nil, fmt.Errorf("it redirects to %s://%s, and redirects are followed to https only",
			to.Scheme, to.Host)
	case followed == mostRedirects:
		return nil, fmt.Errorf("it redirects more than %d times, at last to %s", followed, to.Host)
	}
	return to, nil
}

// receive reads a response to the end.
func (c *Client) receive(response *http.Response, known Resource) (got Resource, err error) {
	header := response.Header
	switch {
	case response.StatusCode == http.StatusOK:
		got.ETag, got.Modified = header.Get("ETag"), header.Get("Last-Modified")
		got.MediaType, _, _ = mime.ParseMediaType(header.Get("Content-Type"))
		got.Text, err = readBody(response, c.MaxSize)
		return got, err
	case response.StatusCode == http.StatusNotModified && known.ETag+known.Modified != "":
		return known, nil
	}
	return got, &StatusError{response.StatusCode, retryAfter(header)}
}

// StatusError is the error of a response without a resource.
type StatusError struct {
	Code       int
	RetryAfter time.Duration // how long the server asks to be left alone
}

// Error tells the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("it answers %d %s", e.Code, http.StatusText(e.Code))
}

// retryAfter returns how long a response asks to wait. A time is one of the server's clock.
func retryAfter(header http.Header) time.Duration {
	written := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(written, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(written)
	now, inDate := http.ParseTime(header.Get("Date"))
	if err != nil || inDate != nil {
		return 0
	}
	return until.Sub(now)
}
