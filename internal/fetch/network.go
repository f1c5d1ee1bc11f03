package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

// connectTime bounds what goes on in the background when nobody waits for a response any more.
const connectTime = 30 * time.Second

var errPrivate = errors.New("a redirect leads here, to a private address, and the URL does not; " +
	"if that is meant, write the URL that it leads to")

// transport returns what sends a request over a connection of its own, and decompresses the
// response. isPublic says that the first server of a chain of redirects has a public address.
// Addresses are checked when they are known, whatever a name server says.
func (c *Client) transport(isRedirected bool, isPublic *atomic.Bool) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	dialer := net.Dialer{Timeout: connectTime}
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		isPrivate := err != nil || c.IsPrivate(to)
		switch {
		case !isRedirected && !isPrivate:
			isPublic.Store(true)
		case isRedirected && isPrivate && isPublic.Load():
			return errPrivate
		}
		return nil
	}
	return gzhttp.Transport(&http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: c.TLS.Clone(), ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true,
	}, gzhttp.TransportAlwaysDecompress(true))
}

// carrierGrade are addresses behind a provider's NAT, which package netip does not call private.
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

// IsPrivate reports whether an address is not on the public internet.
func IsPrivate(to netip.AddrPort) bool {
	address := to.Addr().Unmap()
	return !address.IsGlobalUnicast() || address.IsPrivate() || carrierGrade.Contains(address)
}
