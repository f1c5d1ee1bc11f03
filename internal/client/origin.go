package client

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Origin returns scheme and host as the client sees them (R2): those of the request or, if Caddy
// trusts the peer, those that the proxy was asked for. As in reverse_proxy, the last
// X-Forwarded-Proto and X-Forwarded-Host count, which the trusted peer wrote. A scheme that is
// neither http nor https is ignored; the host is checked where it is used.
func Origin(r *http.Request) (scheme, host string) {
	scheme, host = "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	if !trusted {
		return scheme, host
	}
	if forwarded := ForwardedScheme(r); forwarded == "http" || forwarded == "https" {
		scheme = forwarded
	}
	if forwarded := lastValue(r.Header["X-Forwarded-Host"]); forwarded != "" {
		host = forwarded
	}
	return scheme, host
}

// ForwardedScheme returns the scheme that the peer says its client has used, "" if it says none.
// Caddy need not trust the peer.
func ForwardedScheme(r *http.Request) string {
	return strings.ToLower(lastValue(r.Header["X-Forwarded-Proto"]))
}

// lastValue returns the last element of a header that is a list, on one line or several.
func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}
