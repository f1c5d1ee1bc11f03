package shortlink

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/command"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
)

// front is what may answer requests of a site before a handler gets them.
type front struct {
	patterns []string // of path matchers
	isUnsure bool     // more than these requests may be answered, or rewritten
	hasLinks bool     // there is a shortlink handler
}

// answering are handlers that answer some of the requests that they get, and pass on others.
var answering = [...]string{"file_server", "reverse_proxy", "invoke", "rewrite"}

// with returns the front with an element of Caddy's JSON. A route with a host matcher is another
// site.
func (f front) with(element any) front {
	if list, is := element.([]any); is {
		for _, element := range list {
			f = f.with(element)
		}
		return f
	}
	object, _ := element.(map[string]any)
	name, _ := object["handler"].(string)
	paths := matchedBy(object["match"], "path")
	switch {
	case object == nil || hostsOf(object["match"]) != nil:
	case paths != nil:
		f.patterns = append(slices.Clip(f.patterns), paths...)
	case matchesMoreThanHosts(object["match"]) || slices.Contains(answering[:], name):
		f.isUnsure = true
	case name == "shortlink": // of two, each may answer what the other one does not
		f.isUnsure, f.hasLinks = f.isUnsure || f.hasLinks, true
	default:
		f = f.with(object["handle"]).with(object["routes"])
	}
	return f
}

// sitePages are what answers paths of a site where a links page answers all other ones with 404.
type sitePages struct{ patterns []string }

// Answer reports whether something may answer a path; KEY+ is the page of a key.
func (p sitePages) Answer(path string) bool {
	return strings.HasSuffix(path, "+") || command.Way{}.Through(p.patterns).Admits(path)
}

// besides returns what answers paths of the sites of a handler besides its rules; nil if that is
// not known.
func (p configuredPages) besides(handler string, sites []configuredSite) lint.Pages {
	var all sitePages
	for _, site := range sites {
		i := slices.IndexFunc(p, func(page configuredPage) bool {
			isOwn := page.handler == "" || page.handler == handler
			return page.misses && isOwn && page.isIn(site) && !page.at.front.isUnsure
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
	if !ok {
		return nil
	}
	return pagesOf(routesAsJSON(server.Routes)).besides(handler, []configuredSite{{hosts: site.Hosts}})
}

// routesAsJSON returns routes as JSON that is decoded. Caddy drops the JSON of what it has
// provisioned.
func routesAsJSON(routes caddyhttp.RouteList) (all []any) {
	for _, route := range routes {
		var sets, handlers []any
		for _, set := range route.MatcherSets {
			members := map[string]any{}
			for _, matcher := range set {
				raw, _ := json.Marshal(matcher)
				members[nameOf(matcher)], _ = decodeJSON(raw)
			}
			sets = append(sets, members)
		}
		for _, raw := range route.HandlersRaw {
			handler, _ := decodeJSON(raw)
			handlers = append(handlers, handler)
		}
		for _, handler := range route.Handlers {
			object := map[string]any{"handler": nameOf(handler)}
			if subroute, is := handler.(*caddyhttp.Subroute); is {
				object["routes"] = routesAsJSON(subroute.Routes)
			}
			handlers = append(handlers, object)
		}
		all = append(all, map[string]any{"match": sets, "handle": handlers})
	}
	return all
}

// nameOf returns the name of a module in its namespace, "" if it has none.
func nameOf(module any) string {
	if named, is := module.(caddy.Module); is {
		return named.CaddyModule().ID.Name()
	}
	return ""
}
