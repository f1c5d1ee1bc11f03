package shortlink

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// site is where a handler answers, as far as the configuration around it says.
type site struct {
	addresses []string // that its server listens at
	hosts     []string // of the nearest host matcher around it; none for any host
}

// findSite returns the site that this handler is provisioned for, an empty one where there is no server.
func findSite(ctx caddy.Context) site {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return site{}
	}
	s := site{addresses: slices.Clone(server.Listen)}
	s.enter(server.Routes)
	for _, module := range ctx.Modules() {
		if subroute, ok := module.(*caddyhttp.Subroute); ok {
			s.enter(subroute.Routes)
		}
	}
	return s
}

// enter narrows the site down to the hosts of the route that is being provisioned: the first that has
// handlers which Caddy has not dropped the configuration of yet.
func (s *site) enter(routes caddyhttp.RouteList) {
	i := slices.IndexFunc(routes, func(r caddyhttp.Route) bool { return r.HandlersRaw != nil })
	if i < 0 {
		return
	}
	var matched siteHosts
	for _, set := range routes[i].MatcherSets {
		before := len(matched.named)
		for _, matcher := range set {
			matched.addMatcher(matcher)
		}
		if len(matched.named) == before {
			return // this set takes any host
		}
	}
	if matched.named != nil {
		s.hosts = matched.named
	}
}

// overlaps reports whether two sites have an address and a host in common.
func (s site) overlaps(other site) bool {
	return haveCommon(s.addresses, other.addresses) &&
		(haveCommon(s.hosts, other.hosts) || s.hosts == nil && other.hosts == nil)
}

func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// String returns the addresses as a Caddyfile has them, or what the server listens at where these have
// no port.
func (s site) String() string {
	named := configuredSite{ports: portsOf(s.addresses)}
	for _, host := range s.hosts {
		named.hosts = append(named.hosts, host)
	}
	if named.ports == nil {
		return strings.Join(slices.Concat(s.hosts, s.addresses), " ")
	}
	return strings.Join(named.addresses(), " ")
}
