package shortlink

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/weburl"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"
)

// findSite returns the site for which this handler is provisioned, or an empty one if there is no
// server.
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

// hostsAround returns the hosts of the route that is being provisioned: the first route with
// handlers whose configuration Caddy has not dropped yet. If the route matches any host, it returns
// those around it.
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

// siteHosts are the hosts that the host matchers of a server name, without patterns that match any
// host.
type siteHosts struct{ named caddyhttp.MatchHost }

// findSiteHosts returns the hosts that the server of a handler names, and whether the handler gets
// requests for any host. Without a server it returns nil.
func findSiteHosts(ctx caddy.Context) (hosts *siteHosts, anyHost bool, err error) {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil, false, nil
	}
	anyHost = getsAnyHost(server)
	hosts = new(siteHosts)
	hosts.addServer(server)
	return hosts, anyHost, hosts.named.Provision(ctx)
}

// getsAnyHost reports whether the handler that a server is provisioning gets requests for any host.
// Its route is the first one with handlers that are still to be provisioned.
func getsAnyHost(server *caddyhttp.Server) bool {
	routes := server.Routes
	isNext := func(route caddyhttp.Route) bool { return route.HandlersRaw != nil }
	if i := slices.IndexFunc(routes, isNext); i >= 0 {
		routes = routes[i : i+1]
	} // else it is an error route or a named one
	hosts := new(siteHosts)
	for _, route := range routes {
		hosts.addRoute(route)
	}
	return len(hosts.named) == 0
}

// addServer adds the hosts that a server's configuration names.
func (s *siteHosts) addServer(server *caddyhttp.Server) {
	for _, route := range server.Routes {
		s.addRoute(route)
	}
	for _, route := range server.NamedRoutes {
		for _, raw := range route.HandlersRaw {
			s.addWithin(raw)
		}
	}
	slices.Sort(s.named)
	s.named = slices.Compact(s.named)
}

// addRoute adds the hosts of a route's matchers and of its handlers' matchers, whose JSON is gone
// once they are provisioned.
func (s *siteHosts) addRoute(route caddyhttp.Route) {
	for _, set := range route.MatcherSets {
		for _, matcher := range set {
			s.addMatcher(matcher)
		}
	}
	for _, set := range route.MatcherSetsRaw {
		s.addJSON(set["host"])
	}
	for _, raw := range route.HandlersRaw {
		s.addWithin(raw)
	}
}

func (s *siteHosts) addMatcher(matcher any) {
	switch hosts := matcher.(type) {
	case caddyhttp.MatchHost:
		s.addAll(hosts)
	case *caddyhttp.MatchHost:
		s.addAll(*hosts)
	}
}

func (s *siteHosts) addJSON(raw json.RawMessage) {
	var hosts []string
	if json.Unmarshal(raw, &hosts) == nil {
		s.addAll(hosts)
	}
}

func (s *siteHosts) addAll(hosts []string) {
	for _, host := range hosts {
		if ascii, err := idna.ToASCII(host); err == nil && !takesAnyHost(host) {
			// lowercase, as Caddy refuses a host twice
			s.named = append(s.named, strings.ToLower(ascii))
		}
	}
}

// addWithin adds the hosts of all matchers within a configuration, in any handler.
func (s *siteHosts) addWithin(raw json.RawMessage) {
	if !bytes.Contains(raw, []byte(`"host"`)) {
		return // most have none, and some are large
	}
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch {
	case json.Unmarshal(raw, &members) == nil:
		var sets []map[string]json.RawMessage
		if json.Unmarshal(members["match"], &sets) == nil {
			for _, set := range sets {
				s.addJSON(set["host"])
			}
		}
		delete(members, "rules") // they are many, and have no matchers
		for _, member := range members {
			s.addWithin(member)
		}
	case json.Unmarshal(raw, &elements) == nil:
		for _, element := range elements {
			s.addWithin(element)
		}
	}
}

// takesAnyHost reports whether the pattern of a host matcher matches hosts of unknown owners: its
// "*" is the last label, or only one label follows.
func takesAnyHost(pattern string) bool {
	pattern = strings.TrimRight(pattern, ".")
	star := strings.LastIndexByte(pattern, '*')
	return pattern == "" || strings.Contains(pattern, "{") || star >= 0 &&
		strings.Count(pattern[star:], ".") < 2
}

// isOne reports whether the host of a request is one of these, and its port, if any, is that of the
// connection. The client chooses neither then.
func (s *siteHosts) isOne(r *http.Request) bool {
	canonical, ok := withCanonicalHost(r)
	if !ok {
		return false
	}
	if ok, err := s.named.MatchWithError(canonical); !ok || err != nil {
		return false
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return true // it has no port
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	_, listening, err := net.SplitHostPort(local.String())
	return err == nil && port == listening
}

// withCanonicalHost returns a request whose host is spelled as in URLs. A matcher takes a%2eb for
// one label, but a URL for two.
func withCanonicalHost(r *http.Request) (canonical *http.Request, ok bool) {
	var memory [128]byte
	const scheme = "http"
	origin, ok := weburl.AppendOrigin(memory[:0], scheme, r.Host)
	if !ok {
		return nil, false
	}
	host := origin[len(scheme+"://"):]
	if strings.EqualFold(string(host), r.Host) {
		return r, true
	}
	other := *r
	other.Host = string(host)
	return &other, true
}
