package shortlink

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/command"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// front is what may answer requests of a site before a handler gets them.
type front struct {
	patterns []string // of path matchers
	isUnsure bool     // other requests may be answered, too, or rewritten
	hasLinks bool     // there is a shortlink handler
}

// passesOn reports whether a handler is known to pass on all requests that it lets in.
func passesOn(name string) bool {
	return slices.Contains([]string{
		"", "subroute", "shortlink", "shortlink_page", "authentication", "encode", "headers",
		"log_append", "map", "request_body", "templates", "tracing", "vars",
	}, name)
}

// with returns the front with an element of Caddy's JSON. A terminal route with a host matcher is
// another site. Of two shortlink handlers, each may answer what the other one does not.
func (f front) with(element any) front {
	object, _ := element.(map[string]any)
	name, _ := object["handler"].(string)
	paths, isNarrow := matchedBy(object["match"], "path"), matchesMoreThanHosts(object["match"])
	isSite := object["terminal"] == true && hostsOf(object["match"]) != nil && !isNarrow
	switch {
	case object == nil || isSite:
		return f
	case paths != nil:
		f.patterns = append(slices.Clip(f.patterns), paths...)
		return f
	case isNarrow || f.hasLinks && name == "shortlink", !passesOn(name),
		name == "" && object["handle"] == nil: // Caddy has dropped them
		f.isUnsure = true
		return f
	}
	f.hasLinks = f.hasLinks || name == "shortlink"
	for _, member := range [...]string{"handle", "routes"} {
		elements, _ := object[member].([]any)
		for _, element := range elements {
			f = f.with(element)
		}
	}
	return f
}

// Answer reports whether something may answer a path; KEY+ is the page of a key.
func (f front) Answer(path string) bool {
	return strings.HasSuffix(path, "+") || command.Way{}.Through(f.patterns).Admits(path)
}

// besides returns what answers paths of the sites of a handler besides its rules, where links pages
// answer all others with 404; nil where they do not.
func (p configuredPages) besides(handler string, sites []configuredSite) lint.Pages {
	var all front
	for _, site := range sites {
		i := slices.IndexFunc(p, func(page configuredPage) bool {
			isOwn := page.handler == "" || page.handler == handler
			isLast := page.at.front.hasLinks && !page.at.front.isUnsure
			return page.misses && isOwn && isLast && page.isIn(site)
		})
		if i < 0 {
			return nil
		}
		all.patterns = append(all.patterns, p[i].path, p[i].path+"/*")
		all.patterns = append(all.patterns, p[i].at.front.patterns...)
	}
	return all
}

// besidesOf is besides for a handler that is being provisioned in a site.
func besidesOf(ctx caddy.Context, handler string, site live.Site) lint.Pages {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || !slices.ContainsFunc(server.Routes, hasPage) {
		return nil
	}
	return pagesOf(asJSON(server.Routes)).besides(handler, []configuredSite{{hosts: site.Hosts}})
}

// hasPage reports whether a route has a links page that is not provisioned yet.
func hasPage(route caddyhttp.Route) bool {
	return slices.ContainsFunc(route.HandlersRaw, func(raw json.RawMessage) bool {
		return bytes.Contains(raw, []byte(`"shortlink_page"`))
	})
}

// asJSON returns routes as decoded JSON, with what Caddy has dropped of those that it has
// provisioned, but for what is within their handlers.
func asJSON(routes caddyhttp.RouteList) any {
	routes = slices.Clone(routes)
	for i := range routes {
		route := &routes[i]
		for _, set := range route.MatcherSets {
			matchers := caddy.ModuleMap{}
			for _, matcher := range set {
				matchers[caddy.GetModuleName(matcher)] = caddyconfig.JSON(matcher, nil)
			}
			route.MatcherSetsRaw = append(route.MatcherSetsRaw, matchers)
		}
		for _, handler := range route.Handlers {
			raw := caddyconfig.JSONModuleObject(handler, "handler", caddy.GetModuleName(handler), nil)
			route.HandlersRaw = append(route.HandlersRaw, raw)
		}
	}
	raw, _ := json.Marshal(routes)
	value, _ := decodeJSON(raw)
	return value
}
