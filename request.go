package shortlink

import (
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// resolverRequest returns the resolver's request for r: the current target, which earlier handlers
// may have rewritten, and what the client asked for (R2, R15). ok is false if the target is not a
// path, as in OPTIONS * and CONNECT.
func resolverRequest(r *http.Request) (req resolver.Request, ok bool) {
	original, _ := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	scheme, host := client.Origin(r)
	req, ok = resolver.NewRequest(scheme, host, currentTarget(r, original.RequestURI))
	req.OverHTTP = true
	req.Target.Hash = "" // clients do not send one, and servers must ignore it (R17)
	if original.RequestURI != r.RequestURI {
		asked, _ := resolver.NewRequest(scheme, host, originForm(original.RequestURI))
		req.Asked = asked.Target
	}
	return req, ok
}

// currentTarget returns the target of r in origin-form, or "". It is read from RequestURI, which
// Caddy's handlers keep up to date when they rewrite: r.URL does not keep every spelling. asked is
// the RequestURI that the client sent.
func currentTarget(r *http.Request, asked string) string {
	target := r.RequestURI
	switch {
	case strings.HasPrefix(target, "/"):
		return target
	case target == "": // a request made by a handler, such as httpInclude in templates
		return r.URL.RequestURI()
	case target != asked: // rewritten to a path without its "/", as by "rewrite * page.html"
		return "/" + target
	}
	return originForm(target)
}

// originForm returns a request target as path and query (RFC 9112 3.2), or "" for the authority of
// CONNECT and for "*".
func originForm(target string) string {
	if strings.HasPrefix(target, "/") {
		return target
	}
	scheme, rest, _ := strings.Cut(target, "://")
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return ""
	}
	end := strings.IndexAny(rest, "/?#")
	switch {
	case end < 0:
		return "/"
	case rest[end] != '/':
		return "/" + rest[end:]
	}
	return rest[end:]
}

// checkProxy warns, once, of a redirect to the origin of a request that is http because Caddy does
// not trust the proxy, which says that its client has asked by https.
func (h *Handler) checkProxy(r *http.Request, request *resolver.Request, destination string) {
	if h.Origin != "" || request.Scheme != "http" || client.ForwardedScheme(r) != "https" {
		return
	}
	origin, _ := weburl.AppendOrigin(nil, request.Scheme, request.Host)
	path, isOwn := strings.CutPrefix(destination, string(origin))
	if !isOwn || !strings.HasPrefix(path, "/") || h.isProxyTold.Swap(true) {
		return
	}
	h.logger.Warn("a redirect to a path of this site is http, and the proxy says that its client has "+
		"asked by https, but Caddy does not trust it; if that is your proxy, write its address into "+
		"trusted_proxies of the global option servers, or origin https://go.example into the block of "+
		"shortlink",
		zap.String("name", h.rules.PublicName()), zap.String("remote", r.RemoteAddr))
}
