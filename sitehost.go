package shortlink

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// hostIsChecked reports whether a host matcher stands in front of this handler, wherever Caddy's routes have one with its configuration: then
// the host of a request is one that the configuration names. Routes in which the handler is not found are taken for ones without.
func (h *Handler) hostIsChecked(configuration string) bool {
	server, ok := h.ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return true // nothing is served here
	}
	s := hostSearch{configuration: configuration, server: server}
	for i := range server.Routes {
		s.lookAt(&server.Routes[i], false)
	}
	return s.found && !s.unchecked
}

// hostSearch looks for handlers with a configuration.
type hostSearch struct {
	configuration    string
	server           *caddyhttp.Server
	found, unchecked bool
	depth            int
}

// routeJSON is what matters of a route here, of which Caddy loads the modules one after the other.
type routeJSON struct {
	Match  []map[string]json.RawMessage `json:"match"`
	Handle []json.RawMessage            `json:"handle"`
}

// routeInMemory returns a route whose handlers have not been loaded, while its matchers may have been.
func routeInMemory(route *caddyhttp.Route) routeJSON {
	r := routeJSON{Handle: route.HandlersRaw}
	for _, set := range route.MatcherSetsRaw {
		r.Match = append(r.Match, set)
	}
	for _, set := range route.MatcherSets {
		matchers := map[string]json.RawMessage{}
		for _, matcher := range set {
			if hosts, ok := hostsOf(matcher); ok {
				matchers["host"], _ = json.Marshal(hosts)
			}
		}
		r.Match = append(r.Match, matchers)
	}
	return r
}

func hostsOf(matcher any) (caddyhttp.MatchHost, bool) {
	switch hosts := matcher.(type) {
	case caddyhttp.MatchHost:
		return hosts, true
	case *caddyhttp.MatchHost:
		return *hosts, true
	}
	return nil, false
}

// lookAt looks at the handlers of a route, of which some or all may have been loaded; those of this kind have been checked then.
// checked tells that a host matcher stands in front of it.
func (s *hostSearch) lookAt(route *caddyhttp.Route, checked bool) {
	r := routeInMemory(route)
	s.look(r, checked)
	checked = checked || r.checksHost()
	for _, handler := range route.Handlers {
		switch handler := handler.(type) {
		case *caddyhttp.Subroute:
			for i := range handler.Routes {
				s.lookAt(&handler.Routes[i], checked)
			}
		case *caddyhttp.Invoke:
			s.invoke(handler.Name, checked)
		}
	}
}

// invoke looks at a named route.
func (s *hostSearch) invoke(name string, checked bool) {
	if s.depth++; s.depth > 100 {
		return // it invokes itself
	}
	defer func() { s.depth-- }()
	if route := s.server.NamedRoutes[name]; route != nil {
		s.lookAt(route, checked)
	}
}

// look looks at the handlers of a route that have not been loaded.
func (s *hostSearch) look(route routeJSON, checked bool) {
	checked = checked || route.checksHost()
	for _, raw := range route.Handle {
		var handler struct {
			Handler, Name string
			Routes        []routeJSON
			Advertise     *Advertise
		}
		if json.Unmarshal(raw, &handler) != nil {
			continue
		}
		for _, route := range handler.Routes {
			s.look(route, checked)
		}
		switch {
		case handler.Handler == "invoke":
			s.invoke(handler.Name, checked)
		case handler.Handler == "shortlink" && handler.Advertise != nil && s.isMeant(raw):
			s.found, s.unchecked = true, s.unchecked || !checked
		}
	}
}

func (s *hostSearch) isMeant(raw []byte) bool {
	h := new(Handler)
	if json.Unmarshal(raw, h) != nil {
		return false
	}
	configuration, err := h.configuration()
	return err == nil && configuration == s.configuration
}

// checksHost reports whether each set of matchers has one of hosts that does not take any.
func (r routeJSON) checksHost() bool {
	if len(r.Match) == 0 {
		return false
	}
	return !slices.ContainsFunc(r.Match, func(set map[string]json.RawMessage) bool {
		var hosts []string
		return json.Unmarshal(set["host"], &hosts) != nil || len(hosts) == 0 || slices.ContainsFunc(hosts, takesAnyHost)
	})
}

// takesAnyHost reports whether a pattern of a host matcher takes hosts that nobody has named.
func takesAnyHost(pattern string) bool {
	return pattern == "" || strings.Trim(pattern, "*.") == "" || strings.Contains(pattern, "{")
}
