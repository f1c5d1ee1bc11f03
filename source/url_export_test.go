package source

import (
	"crypto/tls"
	"net/http"
	"net/netip"
)

// ReachBy replaces how servers are reached, where it is not nil.
func (s *URL) ReachBy(
	config *tls.Config, transport http.RoundTripper, isPrivate func(netip.AddrPort) bool,
) {
	s.client.TLS, s.client.Transport = config, transport
	if isPrivate != nil {
		s.client.IsPrivate = isPrivate
	}
}
