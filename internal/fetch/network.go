package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"syscall"
	"time"
)

// connectTime bounds what goes on in the background when nobody waits for a response any more.
const connectTime = 30 * time.Second

var errPrivate = errors.New("a redirect leads here, to a private address, and the URL does not; " +
	"if that is meant, write the URL that it leads to")

// send sends a request over a connection of its own, and tells whether that has a private address.
// The address is checked when it is known, whatever a name server says.
func (c *Client) send(
	ctx context.Context, request *http.Request, mayBePrivate bool,
) (response *http.Response, isPrivate bool, err error) {
	dialer := net.Dialer{Timeout: connectTime}
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !mayBePrivate && c.IsPrivate(to) {
			err = errPrivate
		}
		return err
	}
	transport := c.Transport
	if transport == nil {
		transport = &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: c.TLS.Clone(), ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true,
		}
	}
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		to, is := got.Conn.RemoteAddr().(*net.TCPAddr)
		isPrivate = is && c.IsPrivate(to.AddrPort())
	}}
	request = request.WithContext(httptrace.WithClientTrace(ctx, trace))
	response, err = transport.RoundTrip(request)
	return response, isPrivate, err
}

// carrierGrade are addresses behind a provider's NAT, which package netip does not call private.
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

// IsPrivate reports whether an address is not on the public internet.
func IsPrivate(to netip.AddrPort) bool {
	address := to.Addr().Unmap()
	return !address.IsGlobalUnicast() || address.IsPrivate() || carrierGrade.Contains(address)
}

// reasonOf returns an error of a connection without what differs from try to try, such as the time
// and the port: an error that stays the same is reported once.
func reasonOf(err error) error {
	if invalid, is := errors.AsType[x509.CertificateInvalidError](err); is &&
		invalid.Reason == x509.Expired {
		return fmt.Errorf("its certificate is valid from %s until %s, which is not now by the clock here",
			invalid.Cert.NotBefore.Format(time.RFC3339), invalid.Cert.NotAfter.Format(time.RFC3339))
	}
	if unresolved, is := errors.AsType[*net.DNSError](err); is {
		if unresolved.IsNotFound {
			return errors.New("there is no host of this name")
		}
		return errors.New("no DNS server tells its address")
	}
	if op, is := errors.AsType[*net.OpError](err); is {
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}
