package shortlink

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/idna"
)

// siteHosts are the hosts that a server's configuration names: what host matchers take, but for those that take any.
type siteHosts struct{ named caddyhttp.MatchHost }

// siteHosts returns the hosts of the server that this handler is provisioned for, nil where there is none.
func (h *Handler) siteHosts() (*siteHosts, error) {
	server, ok := h.ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil, nil
	}
	hosts := new(siteHosts)
	for _, route := range server.Routes {
		for _, set := range route.MatcherSets {
			for _, matcher := range set {
				hosts.addMatcher(matcher)
			}
		}
		for _, set := range route.MatcherSetsRaw {
			hosts.add(set["host"])
		}
		for _, raw := range route.HandlersRaw { // of this route; those of earlier ones are gone
			hosts.addWithin(raw)
		}
	}
	for _, route := range server.NamedRoutes {
		for _, raw := range route.HandlersRaw {
			hosts.addWithin(raw)
		}
	}
	slices.Sort(hosts.named)
	hosts.named = slices.Compact(hosts.named)
	return hosts, hosts.named.Provision(h.ctx)
}

func (s *siteHosts) addMatcher(matcher any) {
	switch hosts := matcher.(type) {
	case caddyhttp.MatchHost:
		s.addAll(hosts)
	case *caddyhttp.MatchHost:
		s.addAll(*hosts)
	}
}

func (s *siteHosts) add(raw json.RawMessage) {
	var hosts []string
	if json.Unmarshal(raw, &hosts) == nil {
		s.addAll(hosts)
	}
}

func (s *siteHosts) addAll(hosts []string) {
	for _, host := range hosts {
		if ascii, err := idna.ToASCII(host); err == nil && !takesAnyHost(host) {
			s.named = append(s.named, strings.ToLower(ascii)) // as Caddy has them, which refuses a host twice
		}
	}
}

// addWithin adds the hosts of all matchers within a configuration, whatever handlers hold them.
func (s *siteHosts) addWithin(raw json.RawMessage) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	switch {
	case json.Unmarshal(raw, &members) == nil:
		var sets []map[string]json.RawMessage
		if json.Unmarshal(members["match"], &sets) == nil {
			for _, set := range sets {
				s.add(set["host"])
			}
		}
		delete(members, "rules") // which are many, and have no matchers
		for _, member := range members {
			s.addWithin(member)
		}
	case json.Unmarshal(raw, &elements) == nil:
		for _, element := range elements {
			s.addWithin(element)
		}
	}
}

// takesAnyHost reports whether a pattern of a host matcher takes hosts that belong to anybody: its "*" is the last label, or has but one behind
// it.
func takesAnyHost(pattern string) bool {
	pattern = strings.TrimRight(pattern, ".")
	star := strings.LastIndexByte(pattern, '*')
	return pattern == "" || strings.Contains(pattern, "{") || star >= 0 && strings.Count(pattern[star:], ".") < 2
}

// isOne reports whether the host that a request is for is one of these, and its port, if it has one, that of the connection: a client
// chooses neither then.
func (s *siteHosts) isOne(r *http.Request) bool {
	if ok, err := s.named.MatchWithError(r); !ok || err != nil {
		return false
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return true // it has none
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	_, listening, err := net.SplitHostPort(local.String())
	return err == nil && port == listening
}
