package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// network is how servers are reached. Tests replace parts of it.
type network struct {
	tls       *tls.Config       // nil for the system's certificate authorities
	transport http.RoundTripper // nil for a new one for each journey
	isPrivate func(netip.AddrPort) bool
}

// journey is a request and its redirects. It has its own connections: which addresses a redirect
// may reach depends on where the first request went.
type journey struct {
	*network
	transport http.RoundTripper
	end       func() // closes the connections
	isOnWay   atomic.Bool
	// beganPrivate says that the first request went to a private address.
	beganPrivate atomic.Bool
}

// connectTime bounds what goes on in the background when nobody waits for a response any more.
const connectTime = 30 * time.Second

func (n *network) newJourney() *journey {
	j := &journey{network: n, transport: n.transport, end: func() {}}
	if j.transport == nil {
		transport := &http.Transport{
			DialContext: j.dial, TLSClientConfig: n.tls.Clone(), ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: 64 << 10,
		}
		j.transport, j.end = transport, transport.CloseIdleConnections
	}
	return j
}

// send sends a request. The error contains no URL.
func (j *journey) send(request *http.Request) (*http.Response, error) {
	response, err := j.transport.RoundTrip(request)
	j.isOnWay.Store(true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.URL.Host, reasonOf(err))
	}
	response.Request = request
	return response, nil
}

var errPrivate = errors.New("a redirect leads here, to a private address, and the URL does not; " +
	"if that is meant, write the URL that it leads to")

// dial connects to a host. The address is checked when it is known, whatever a name server says.
func (j *journey) dial(ctx context.Context, protocol, address string) (net.Conn, error) {
	isFirst := !j.isOnWay.Load()
	dialer := net.Dialer{Timeout: connectTime}
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !isFirst && !j.beganPrivate.Load() && j.isPrivate(to) {
			err = errPrivate
		}
		return err
	}
	conn, err := dialer.DialContext(ctx, protocol, address)
	if err == nil && isFirst {
		to, is := conn.RemoteAddr().(*net.TCPAddr)
		j.beganPrivate.Store(is && j.isPrivate(to.AddrPort()))
	}
	return conn, err
}

// translated are IPv6 addresses whose last four bytes are an IPv4 address; otherPrivate are private
// addresses that package netip does not know, or lead to such.
var (
	translated   = netip.MustParsePrefix("64:ff9b::/96")
	otherPrivate = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b:1::/48"),
		netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
	}
)

// isPrivate reports whether an address is not on the public internet.
func isPrivate(to netip.AddrPort) bool {
	address := to.Addr().WithZone("").Unmap()
	if translated.Contains(address) {
		b := address.As16()
		address = netip.AddrFrom4([4]byte(b[12:]))
	}
	return !address.IsGlobalUnicast() || address.IsPrivate() ||
		slices.ContainsFunc(otherPrivate, func(p netip.Prefix) bool { return p.Contains(address) })
}
