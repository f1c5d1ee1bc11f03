package shortlink

import (
	"net/http"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// resolverRequest returns what the resolver has to know of r: the current target, which
// handlers before this one may have rewritten, and what the client asked for (R2, R15). ok is
// false when the target is no path, as in OPTIONS * and CONNECT.
func resolverRequest(r *http.Request) (req resolver.Request, ok bool) {
	original, _ := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	scheme, host := client.Origin(r)
	req, ok = resolver.NewRequest(scheme, host, currentTarget(r, original.RequestURI))
	req.OverHTTP = true
	req.Target.Hash = "" // no client sends one, and if it does, it is not for servers (R17)
	if original.RequestURI != r.RequestURI {
		asked, _ := resolver.NewRequest(scheme, host, originForm(original.RequestURI))
		req.Asked = asked.Target
	}
	return req, ok
}

// currentTarget returns the target of r in origin-form, or "" where it has none. It is
// read from RequestURI, which Caddy's handlers keep up to date when they rewrite, since
// r.URL does not keep every spelling; asked is the RequestURI that the client sent.
func currentTarget(r *http.Request, asked string) string {
	target := r.RequestURI
	switch {
	case strings.HasPrefix(target, "/"):
		return target
	case target == "": // a request that a handler made up, such as httpInclude in templates
		return r.URL.RequestURI()
	case target != asked: // rewritten to a path without its "/", as by "rewrite * page.html"
		return "/" + target
	}
	return originForm(target)
}

// originForm returns a client's request target as path and query (RFC 9112 3.2), or
// "" where it has none: the authority of CONNECT, and "*".
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
