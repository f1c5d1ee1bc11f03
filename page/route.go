package page

import (
	"encoding/json"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// warnUnlessLast warns of handlers after a page that answers misses: they are never reached.
func (p *Page) warnUnlessLast() {
	routes := p.routesAround()
	i := slices.IndexFunc(routes, func(r caddyhttp.Route) bool { return r.HandlersRaw != nil })
	if i < 0 || routes[i].MatcherSetsRaw != nil || routes[i].MatcherSets != nil {
		return // requests that its matcher excludes reach the others
	}
	last := len(routes[i].HandlersRaw) == 1 || isLast(routes[i])
	if i < len(routes)-1 || !last {
		p.logger.Warn("shortlink_page answers every request with misses, so the handlers after it " +
			"are never reached; put it last, in a route block if need be")
	}
}

// isLast reports whether the page is the last handler of a route.
func isLast(route caddyhttp.Route) bool {
	last := route.HandlersRaw[len(route.HandlersRaw)-1]
	var module struct {
		Handler string `json:"handler"`
	}
	return json.Unmarshal(last, &module) == nil && module.Handler == "shortlink_page"
}

// routesAround returns the routes that contain the handler that is being provisioned.
func (p *Page) routesAround() caddyhttp.RouteList {
	for _, module := range slices.Backward(p.ctx.Modules()) {
		if subroute, ok := module.(*caddyhttp.Subroute); ok {
			return subroute.Routes
		}
	}
	if server, ok := p.ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		return server.Routes
	}
	return nil
}
