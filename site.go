package shortlink

import (
	"slices"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// findSite returns the site that this handler is provisioned for, an empty one where there is no server.
func findSite(ctx caddy.Context) live.Site {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return live.Site{}
	}
	s := live.Site{Addresses: slices.Clone(server.Listen)}
	s.Hosts = hostsAround(server.Routes, s.Hosts)
	for _, module := range ctx.Modules() {
		if subroute, ok := module.(*caddyhttp.Subroute); ok {
			s.Hosts = hostsAround(subroute.Routes, s.Hosts)
		}
	}
	return s
}

// hostsAround returns the hosts of the route that is being provisioned, the first that has handlers
// which Caddy has not dropped the configuration of yet; those around it, if it takes any host.
func hostsAround(routes caddyhttp.RouteList, around []string) []string {
	i := slices.IndexFunc(routes, func(r caddyhttp.Route) bool { return r.HandlersRaw != nil })
	if i < 0 {
		return around
	}
	var matched siteHosts
	for _, set := range routes[i].MatcherSets {
		before := len(matched.named)
		for _, matcher := range set {
			matched.addMatcher(matcher)
		}
		if len(matched.named) == before {
			return around // this set takes any host
		}
	}
	if matched.named == nil {
		return around
	}
	return matched.named
}
