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
	s.network.tls, s.network.transport = config, transport
	if isPrivate != nil {
		s.network.isPrivate = isPrivate
	}
}

// IsPrivate and ShownURL are tested in tables.
var (
	IsPrivate = isPrivate
	ShownURL  = shownURL
)
