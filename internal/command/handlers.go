package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
	"github.com/caddyserver/caddy/v2"
)

// Configurations is what only the handler's package knows about Caddy's configurations.
type Configurations interface {
	// Find returns the handlers of a configuration, sorted by name, or the one with a name; their
	// rules are ready to be read. The configuration is JSON, and path the file that it was written
	// in. Errors of the configuration are a [BadConfiguration].
	Find(ctx caddy.Context, config []byte, path, name string) (Handlers, error)

	// InDirectives returns the errors in the directives of a Caddyfile, each with its place; err is
	// why Caddy could not adapt it.
	InDirectives(err error, path string) error

	// RuleLine returns a rule as a line of a Caddyfile.
	RuleLine(rule resolver.Rule) string
}

// ConfigHandler is a handler of a configuration, whose rules are read and compiled but not served.
type ConfigHandler struct {
	Name   string // unique: the name by which it runs
	Shares bool   // others have the public name, too
	Rules  *live.Ruleset
	// Addresses are those of its sites: "go.example", "*.go.example:8080", ":443".
	Addresses []string
	// Origins are those of its sites whose requests all reach it as clients send them, for
	// [resolver.Ruleset.Check].
	Origins []string
	// Ways are the ways of requests to it.
	Ways []Way
	// Pages are the paths of the links pages in its sites, which its rules must not answer.
	Pages []string
	// Lines are the positions of its directive in a Caddyfile.
	Lines []resolver.Position
}

// besideFiles returns the endings with which paths of requests are files of the site that keep them
// away, on all ways to the handler; see [Way.BesideFiles].
func (c *ConfigHandler) besideFiles() (endings []string) {
	for i, way := range c.Ways {
		if i > 0 && !slices.Equal(endings, way.besideFiles) {
			return nil
		}
		endings = way.besideFiles
	}
	return endings
}

// Handlers are handlers of a configuration, sorted by name.
type Handlers []*ConfigHandler

// Named returns the handlers with a name, or all if it is empty.
func (all Handlers) Named(name string) (Handlers, error) {
	if len(all) == 0 {
		return nil, errors.New("the configuration has no shortlink handler")
	}
	if name == "" {
		return all, nil
	}
	some := all.where(func(c *ConfigHandler) bool { return c.Name == name })
	if len(some) == 0 {
		return nil, fmt.Errorf("the configuration has no shortlink handler named %q; it has: %s",
			name, all.list())
	}
	return some, nil
}

func (all Handlers) where(is func(*ConfigHandler) bool) (some Handlers) {
	for _, c := range all {
		if is(c) {
			some = append(some, c)
		}
	}
	return some
}

// list lists the handlers by name and place.
func (all Handlers) list() string {
	var names []string
	shared := false
	for _, c := range all {
		names = append(names, c.label())
		shared = shared || c.Shares
	}
	list := strings.Join(names, ", ")
	if shared {
		list += "; give each a name in its block, because numbers change with the rules"
	}
	return list
}

// label is the handler's name and place.
func (c *ConfigHandler) label() string {
	places := slices.Clone(c.Addresses)
	for _, line := range c.Lines {
		places = append(places, printable.Text(line.String()))
	}
	if len(places) == 0 {
		return c.Name
	}
	return c.Name + " (" + strings.Join(slices.Compact(places), ", ") + ")"
}

// thatServe returns the handlers of the sites with the hosts of URLs, or all handlers if the URLs
// are paths. Other hosts belong to sites for any host.
func (all Handlers) thatServe(urls []string) Handlers {
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
		if !slices.ContainsFunc(some, func(c *ConfigHandler) bool { return c.isAt(address) }) {
			address = ""
		}
		some = some.where(func(c *ConfigHandler) bool { return c.isAt(address) })
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// isAt reports whether the handler is in a site with this address or, if it is empty, in one for
// any host.
func (c *ConfigHandler) isAt(address string) bool {
	if address == "" {
		anyHost := func(own string) bool { return own[0] == ':' }
		return len(c.Addresses) == 0 || slices.ContainsFunc(c.Addresses, anyHost)
	}
	return slices.ContainsFunc(c.Addresses, func(own string) bool { return matchesHost(own, address) })
}
