package shortlink

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// configured is a handler of a configuration, and what tells it apart from the others.
type configured struct {
	*Handler
	rules  *live.Ruleset // once it is known to be good
	name   string        // that no other has: the same by which it runs
	shares bool          // whether others have the public name, too
	// encoded is the handler as JSON, sorted: all handlers with this form are one.
	encoded    string
	forAnyHost bool // whether one of its sites names no host
	// addresses are of the sites that it stands in: "go.example", "*.go.example:8080", ":443".
	addresses []string
	// origins are those of its sites whose requests all reach it as clients send them, as
	// [resolver.Ruleset.Check] takes them.
	origins []string
	// lines are where its directive stands in a Caddyfile.
	lines []resolver.Position
}

// configuredHandlers are the handlers of a configuration, sorted by name.
type configuredHandlers []*configured

// handlersIn returns the shortlink handlers of a configuration that have the name that is asked
// for; path is the file that it was written in.
func (in *input) handlersIn(
	ctx caddy.Context, config []byte, path string,
) (configuredHandlers, error) {
	handlers, err := findHandlers(config)
	if err != nil {
		return nil, err
	}
	handlers, wrong := handlers.decode()
	handlers.giveNames()
	handlers.placeIn(path) // which puts inline rules into another order
	named, err := handlers.named(in.name)
	if err != nil && wrong == nil {
		return nil, err
	}
	for _, c := range named {
		wrong = errors.Join(wrong, c.prepare(ctx))
	}
	if wrong != nil {
		return nil, badConfiguration{wrong}
	}
	return named, nil
}

// findHandlers returns the shortlink handlers of a configuration, wherever they stand, each form of
// them once.
func findHandlers(config []byte) (configuredHandlers, error) {
	whole, err := decodeJSON(config)
	if err != nil {
		return nil, err
	}
	var handlers configuredHandlers
	known := map[string]*configured{}
	eachHandler(whole, configuredSite{}, func(object map[string]any, at configuredSite) {
		object = maps.Clone(object)
		delete(object, "handler")
		b, err := json.Marshal(object)
		if err != nil {
			return
		}
		c, twice := known[string(b)]
		if !twice {
			c = &configured{encoded: string(b)}
			known[c.encoded] = c
			handlers = append(handlers, c)
		}
		c.addresses = append(c.addresses, live.AddressesOf(at.hosts, at.ports)...)
		c.origins = append(c.origins, at.origins()...)
		c.forAnyHost = c.forAnyHost || at.isForAnyHost()
	})
	return handlers, nil
}

// decodeJSON decodes a value without loss.
func decodeJSON(b []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// configuredSite is a part of a configuration: a server, or one of its routes.
type configuredSite struct {
	hosts []string // none for any host
	ports []string // such as ":8080"
	// invoked is set in a named route, which other routes invoke.
	invoked bool
	// partial is set where some requests may not arrive, or not as clients send them: behind a
	// matcher of more than hosts, or a rewrite.
	partial bool
}

// isForAnyHost reports whether the site names no host.
func (s configuredSite) isForAnyHost() bool {
	return s.ports != nil && !s.invoked && !slices.ContainsFunc(s.hosts, func(host string) bool {
		return !takesAnyHost(host)
	})
}

// eachHandler calls found with all shortlink handlers in a JSON value, which stands at a site.
func eachHandler(value any, at configuredSite, found func(map[string]any, configuredSite)) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			eachHandler(element, at, found)
			at.partial = at.partial || takesRequests(element)
		}
	case map[string]any:
		if value["handler"] == "shortlink" {
			found(value, at)
			return
		}
		if listen, is := value["listen"].([]any); is {
			at.ports = live.PortsOf(textsOf(listen))
		}
		if hosts := hostsOf(value["match"]); hosts != nil {
			at.hosts = hosts
		}
		at.partial = at.partial || matchesMoreThanHosts(value["match"])
		for _, name := range slices.Sorted(maps.Keys(value)) {
			within := at
			within.partial = at.partial || name == "named_routes" || name == "errors"
			within.invoked = at.invoked || name == "named_routes"
			eachHandler(value[name], within, found)
		}
	}
}

// origins returns the origins that the site answers for, without the scheme where the port does not
// tell it; none where it sees a part of their requests alone.
func (s configuredSite) origins() (origins []string) {
	if s.partial {
		return nil
	}
	schemes := map[string]string{":80": "http://", ":443": "https://"}
	for _, port := range s.ports {
		for _, address := range live.AddressesOf(s.hosts, []string{port}) {
			if !strings.HasPrefix(address, ":") && !strings.ContainsAny(address, "*{") {
				origins = append(origins, schemes[port]+address)
			}
		}
	}
	return origins
}

// takesRequests reports whether a route or a handler may keep requests from those behind it, or
// rewrite them.
func takesRequests(element any) bool {
	route, _ := element.(map[string]any)
	return matchesMoreThanHosts(route["match"]) || hostsOf(route["match"]) == nil && rewrites(element)
}

// matchesMoreThanHosts reports whether one of a route's matchers is not for hosts.
func matchesMoreThanHosts(matchers any) bool {
	sets, _ := matchers.([]any)
	return slices.ContainsFunc(sets, func(set any) bool {
		members, _ := set.(map[string]any)
		_, ofHosts := members["host"]
		return len(members) > 1 || !ofHosts
	})
}

// rewrites reports whether there is a handler in a JSON value that rewrites requests.
func rewrites(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, rewrites)
	case map[string]any:
		switch value["handler"] {
		case "rewrite":
			return true
		case "shortlink":
			return false
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), rewrites)
	}
	return false
}

// textsOf returns the elements of a JSON array as texts.
func textsOf(elements []any) (texts []string) {
	for _, element := range elements {
		texts = append(texts, fmt.Sprint(element))
	}
	return texts
}

// hostsOf returns the hosts that matchers of a route take, or nil for any.
func hostsOf(matchers any) (hosts []string) {
	sets, _ := matchers.([]any)
	for _, set := range sets {
		members, _ := set.(map[string]any)
		named, _ := members["host"].([]any)
		if named == nil {
			return nil
		}
		hosts = append(hosts, textsOf(named)...)
	}
	return hosts
}

// decode decodes the handlers. It returns those that are good, and what is wrong with the others.
func (all configuredHandlers) decode() (good configuredHandlers, err error) {
	var errs []error
	for _, c := range all {
		c.Handler = new(Handler)
		if err := caddy.StrictUnmarshalJSON([]byte(c.encoded), c.Handler); err != nil {
			errs = append(errs, err)
			continue
		}
		good = append(good, c)
	}
	return good, errors.Join(errs...)
}

// prepare makes the handler's rules ready to be read.
func (c *configured) prepare(ctx caddy.Context) error {
	config, err := c.config(ctx)
	config.AnyHost = c.forAnyHost
	c.rules = live.New(config)
	return err
}

// publicName is the name by which people and programs call the handler.
func (c *configured) publicName() string { return cmp.Or(c.Name, "shortlink") }

// Named returns the handlers that have a name, or all for none.
func (all configuredHandlers) named(name string) (configuredHandlers, error) {
	if len(all) == 0 {
		return nil, errors.New("the configuration has no shortlink handler")
	}
	if name == "" {
		return all, nil
	}
	some := all.where(func(c *configured) bool { return c.name == name })
	if len(some) == 0 {
		return nil, fmt.Errorf("the configuration has no shortlink handler named %q; it has: %s",
			name, all.list())
	}
	return some, nil
}

// placeIn tells where the handlers stand in a Caddyfile, and gives their inline rules the lines
// that they have lost in Caddy's JSON.
func (all configuredHandlers) placeIn(path string) {
	for _, written := range directivesIn(path) {
		encoded := sortedJSON(written.Handler)
		for _, c := range all.where(func(c *configured) bool { return c.encoded == encoded }) {
			if c.lines == nil {
				c.Rules = written.Rules
			}
			c.lines = append(c.lines, written.at)
		}
	}
}

// sortedJSON returns a handler as JSON with all members sorted, or "".
func sortedJSON(h *Handler) string {
	b, err := json.Marshal(h)
	if err != nil {
		return ""
	}
	members, err := decodeJSON(b)
	if err != nil {
		return ""
	}
	b, _ = json.Marshal(members)
	return string(b)
}

// giveNames sorts the handlers, and gives them the names by which they run.
func (all configuredHandlers) giveNames() {
	digests := map[*configured]string{}
	for _, c := range all {
		digests[c], _ = c.identity() // of what has just been decoded
	}
	slices.SortFunc(all, func(a, b *configured) int {
		byName := cmp.Compare(a.publicName(), b.publicName())
		return cmp.Or(byName, cmp.Compare(digests[a], digests[b]))
	})
	public := make([]string, len(all))
	for i, c := range all {
		public[i] = c.publicName()
	}
	names, count := live.UniqueNames(public)
	for i, c := range all {
		c.name, c.shares = names[i], count[public[i]] > 1
	}
}

func (all configuredHandlers) where(is func(*configured) bool) (some configuredHandlers) {
	for _, c := range all {
		if is(c) {
			some = append(some, c)
		}
	}
	return some
}

// list lists the handlers by name, each with where it stands.
func (all configuredHandlers) list() string {
	var names []string
	shared := false
	for _, c := range all {
		names = append(names, c.label())
		shared = shared || c.shares
	}
	list := strings.Join(names, ", ")
	if shared {
		list += "; give each a name in its block, as numbers change with the rules"
	}
	return list
}

// label is the handler's name and where it stands.
func (c *configured) label() string {
	places := slices.Clone(c.addresses)
	for _, line := range c.lines {
		places = append(places, printable.Text(line.String()))
	}
	if len(places) == 0 {
		return c.name
	}
	return c.name + " (" + strings.Join(slices.Compact(places), ", ") + ")"
}

// at returns the handlers of the sites whose hosts URLs have, or all handlers where the URLs do not
// tell. Those of a site that takes any host have the rest.
func (all configuredHandlers) at(urls []string) configuredHandlers {
	some := all
	for _, url := range urls {
		u, err := weburl.Parse(url)
		if err != nil {
			return all // it is a path
		}
		address := u.Host
		if u.Port != "" {
			address += ":" + u.Port
		}
		if !slices.ContainsFunc(some, func(c *configured) bool { return c.isAt(address) }) {
			address = ""
		}
		some = some.where(func(c *configured) bool { return c.isAt(address) })
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// isAt reports whether the handler stands in a site that has this address or, if it is empty, in
// one that takes any host.
func (c *configured) isAt(address string) bool {
	if address == "" {
		anyHost := func(own string) bool { return own[0] == ':' }
		return len(c.addresses) == 0 || slices.ContainsFunc(c.addresses, anyHost)
	}
	labels := strings.Split(address, ".")
	return slices.ContainsFunc(c.addresses, func(own string) bool {
		return slices.EqualFunc(strings.Split(own, "."), labels, func(own, label string) bool {
			return own == "*" || strings.EqualFold(own, label)
		})
	})
}
