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
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-shortlink/shortlink/internal/command"
	"github.com/caddy-shortlink/shortlink/internal/directives"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

func init() {
	command.Register(configurations{})
}

// configurations finds the handlers of configurations for the commands.
type configurations struct{}

// configured is a handler of a configuration, as the commands see it.
type configured struct {
	*Handler
	*command.ConfigHandler
	// encoded is the handler as sorted JSON. Handlers with the same JSON are one.
	encoded    string
	forAnyHost bool // whether a site of it names no host
	sites      []configuredSite
}

// configuredHandlers are the handlers of a configuration, sorted by name.
type configuredHandlers []*configured

// Find returns the handlers that a configuration has; see [command.Configurations].
func (configurations) Find(
	ctx caddy.Context, config []byte, path, name string,
) (command.Handlers, error) {
	handlers, pages, err := findHandlers(config)
	if err != nil {
		return nil, err
	}
	handlers, wrong := handlers.decode()
	if wrong == nil {
		wrong = pages.check(handlers)
	}
	handlers.setNames()
	handlers.locateIn(path) // this reorders inline rules
	var all command.Handlers
	for _, c := range handlers {
		all = append(all, c.ConfigHandler)
	}
	named, err := all.Named(name)
	if err != nil && wrong == nil {
		return nil, err
	}
	for _, c := range handlers {
		if slices.Contains(named, c.ConfigHandler) {
			wrong = errors.Join(wrong, c.prepare(ctx, pages))
		}
	}
	if wrong != nil {
		return nil, command.BadConfiguration{Err: wrong}
	}
	return named, nil
}

// InDirectives returns the errors in the directives of a Caddyfile; see [command.Configurations].
func (configurations) InDirectives(err error, path string) error { return inDirectives(err, path) }

// RuleLine returns a rule as a line of a Caddyfile; see [command.Configurations].
func (configurations) RuleLine(rule resolver.Rule) string { return ruleLine(rule) }

// findHandlers returns the shortlink handlers anywhere in a configuration, equal ones once, and the
// links pages.
func findHandlers(config []byte) (handlers configuredHandlers, pages configuredPages, err error) {
	whole, err := decodeJSON(config)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]*configured{}
	pages = pagesOf(whole)
	eachHandler(whole, configuredSite{}, "shortlink", func(object map[string]any, at configuredSite) {
		object = maps.Clone(object)
		delete(object, "handler")
		b, err := json.Marshal(object)
		if err != nil {
			return
		}
		c, twice := known[string(b)]
		if !twice {
			c = &configured{ConfigHandler: new(command.ConfigHandler), encoded: string(b)}
			known[c.encoded] = c
			handlers = append(handlers, c)
		}
		c.Addresses = append(c.Addresses, live.AddressesOf(at.hosts, at.ports)...)
		c.Origins = append(c.Origins, at.origins()...)
		c.forAnyHost = c.forAnyHost || at.isForAnyHost()
		c.Ways = append(c.Ways, at.way.At(at.hosts))
		c.Pages = append(c.Pages, pages.pathsIn(at)...)
		c.sites = append(c.sites, at)
	})
	return handlers, pages, nil
}

// configuredPage is a links page of a configuration: its path, the handler that it names, whether
// it answers misses, and its site.
type configuredPage struct {
	path, handler string
	misses        bool
	at            configuredSite
}

type configuredPages []configuredPage

// pagesOf returns the links pages of a configuration.
func pagesOf(whole any) (pages configuredPages) {
	add := func(object map[string]any, at configuredSite) {
		path, _ := object["path"].(string)
		path = strings.TrimSuffix(cmp.Or(path, "/.links"), "/")
		handler, _ := object["handler_name"].(string)
		pages = append(pages, configuredPage{path, handler, object["misses"] == true, at})
	}
	eachHandler(whole, configuredSite{}, "shortlink_page", add)
	return pages
}

// pathsIn returns the paths of the pages in a site.
func (p configuredPages) pathsIn(at configuredSite) (paths []string) {
	for _, page := range p {
		if page.isIn(at) && !slices.Contains(paths, page.path) {
			paths = append(paths, page.path)
		}
	}
	return paths
}

// isIn reports whether the page stands in a site.
func (p *configuredPage) isIn(at configuredSite) bool {
	return slices.Equal(p.at.hosts, at.hosts) && slices.Equal(p.at.ports, at.ports)
}

// check returns an error if pages name a handler that does not exist.
func (p configuredPages) check(handlers configuredHandlers) error {
	var errs []error
	for _, page := range p {
		errs = append(errs, live.CheckPage(page.handler, handlers.publicNames()))
	}
	return errors.Join(errs...)
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
	// way is what lies in front of it and looks at paths.
	way command.Way
	// front is what may answer requests before they arrive, or rewrite them.
	front front
}

// isForAnyHost reports whether the site names no host.
func (s configuredSite) isForAnyHost() bool {
	return s.ports != nil && !s.invoked && !slices.ContainsFunc(s.hosts, func(host string) bool {
		return !takesAnyHost(host)
	})
}

// eachHandler calls found for all handlers of a name in a JSON value, which belongs to a site.
func eachHandler(
	value any, at configuredSite, name string, found func(map[string]any, configuredSite),
) {
	switch value := value.(type) {
	case []any:
		var front rewriting
		for _, element := range value {
			within := at
			within.way = front.wayTo(element, at.way)
			eachHandler(element, within, name, found)
			at.front = at.front.with(element)
			front.addElement(element)
		}
	case map[string]any:
		if value["handler"] == name {
			found(value, at)
			return
		}
		if listen, is := value["listen"].([]any); is {
			at.ports = live.PortsOf(textsOf(listen))
		}
		if hosts := hostsOf(value["match"]); hosts != nil {
			at.hosts = hosts
		}
		if paths := matchedBy(value["match"], "path"); paths != nil {
			at.way = at.way.Through(paths)
		}
		if endings := notFiles(value["match"]); endings != nil {
			at.way = at.way.BesideFiles(endings)
		}
		at.front.isUnsure = at.front.isUnsure || matchesMoreThanHosts(value["match"])
		for _, member := range slices.Sorted(maps.Keys(value)) {
			within := at
			within.invoked = at.invoked || member == "named_routes"
			if member == "named_routes" || member == "errors" {
				within.front.isUnsure = true
				within.way = at.way.Rewritten() // by its callers
			}
			eachHandler(value[member], within, name, found)
		}
	}
}

// rewriting are routes or handlers, in a list of Caddy's JSON, that may change the path of requests
// for those behind them.
type rewriting []map[string]any

// addElement adds an element of the list if it may change paths.
func (r *rewriting) addElement(element any) {
	object, _ := element.(map[string]any)
	// a named route may do anything
	if object["terminal"] != true && has(element, "rewrite", "invoke") {
		*r = append(*r, object)
	}
}

// wayTo returns the way to the element behind them, if only one leads there. A request takes only
// one route of a group.
func (r rewriting) wayTo(element any, way command.Way) command.Way {
	next, _ := element.(map[string]any)
	for _, object := range r {
		if group := object["group"]; group == nil || group != next["group"] {
			way = wayBehind(object, way)
		}
	}
	return way
}

// wayBehind returns the way of requests that go on behind a route or a handler.
func wayBehind(object map[string]any, way command.Way) command.Way {
	prefix, cuts := object["strip_path_prefix"].(string)
	handlers, isRoute := object["handle"].([]any)
	switch {
	case object["handler"] == "rewrite" && cuts && len(object) == 2: // and does nothing else
		return way.WithoutPrefix(prefix)
	case isRoute && object["match"] == nil:
		var all rewriting
		for _, handler := range handlers {
			all.addElement(handler)
		}
		return all.wayTo(nil, way)
	}
	return way.Rewritten()
}

// origins returns the origins that the site answers for, without the scheme if the port does not
// tell it; none if it sees only part of their requests.
func (s configuredSite) origins() (origins []string) {
	if s.front.isUnsure || s.front.patterns != nil {
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

// has reports whether a JSON value has one of some handlers.
func has(value any, handlers ...string) bool {
	hasAny := func(value any) bool { return has(value, handlers...) }
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, hasAny)
	case map[string]any:
		name, _ := value["handler"].(string)
		return slices.Contains(handlers, name) ||
			name != "shortlink" && slices.ContainsFunc(slices.Collect(maps.Values(value)), hasAny)
	}
	return false
}

// textsOf returns the elements of a JSON array as strings.
func textsOf(elements []any) (texts []string) {
	for _, element := range elements {
		texts = append(texts, fmt.Sprint(element))
	}
	return texts
}

// decode decodes the handlers. It returns the valid ones, and the errors of the others.
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

// prepare prepares the handler's rules for reading.
func (c *configured) prepare(ctx caddy.Context, pages configuredPages) error {
	config, err := c.config(ctx)
	config.AnyHost = c.forAnyHost
	config.Pages = pages.besides(c.PublicName(), c.sites)
	c.ConfigHandler.Rules = live.New(config)
	return err
}

// publicNames returns the handlers' public names.
func (all configuredHandlers) publicNames() []string {
	public := make([]string, len(all))
	for i, c := range all {
		public[i] = c.PublicName()
	}
	return public
}

// locateIn sets the positions of the handlers in a Caddyfile, and restores the lines of inline
// rules, which Caddy's JSON has lost.
func (all configuredHandlers) locateIn(path string) {
	for _, written := range directivesIn(path) {
		encoded := sortedJSON(written.Handler)
		for _, c := range all {
			if c.encoded != encoded {
				continue
			}
			if c.Lines == nil {
				c.Handler.Rules = written.Rules
			}
			c.Lines = append(c.Lines, written.at)
		}
	}
}

// sortedJSON returns a handler as JSON with sorted members, or "".
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

// setNames sorts the handlers, and sets the names by which they run.
func (all configuredHandlers) setNames() {
	digests := map[*configured]string{}
	for _, c := range all {
		digests[c], _ = c.identity() // it was just decoded
	}
	slices.SortFunc(all, func(a, b *configured) int {
		byName := cmp.Compare(a.PublicName(), b.PublicName())
		return cmp.Or(byName, cmp.Compare(digests[a], digests[b]))
	})
	public := all.publicNames()
	names, count := live.UniqueNames(public)
	for i, c := range all {
		c.ConfigHandler.Name, c.Shares = names[i], count[public[i]] > 1
	}
}

// inDirectives returns the errors in the directives of a Caddyfile, each with its place. err is
// Caddy's error: it stops at the first directive, and is only a text.
func inDirectives(err error, path string) error {
	told := false
	var errs []error
	for _, written := range directivesIn(path) {
		if written.err != nil {
			errs = append(errs, written.err)
			told = told || strings.Contains(err.Error(), written.err.Error())
		}
	}
	if !told {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writtenDirective is a shortlink directive in a Caddyfile, and its errors.
type writtenDirective struct {
	*Handler
	err error
	at  resolver.Position
}

// directivesIn returns the shortlink directives anywhere in a Caddyfile; none if the file cannot be
// read or is not a Caddyfile.
func directivesIn(path string) (all []writtenDirective) {
	for _, tokens := range directives.InFile(path, "shortlink") {
		all = append(all, readDirective(tokens))
	}
	return all
}

func readDirective(tokens []caddyfile.Token) writtenDirective {
	h, at := new(Handler), resolver.Position{Source: tokens[0].File, Line: tokens[0].Line}
	err := h.UnmarshalCaddyfile(caddyfile.NewDispenser(withoutMatcher(tokens)))
	return writtenDirective{h, err, at}
}

// withoutMatcher drops the words between the directive's name and its block.
func withoutMatcher(tokens []caddyfile.Token) []caddyfile.Token {
	for i := 1; i < len(tokens) && tokens[i].Line == tokens[0].Line; i++ {
		if tokens[i].Text == "{" {
			return append([]caddyfile.Token{tokens[0]}, tokens[i:]...)
		}
	}
	return tokens
}
