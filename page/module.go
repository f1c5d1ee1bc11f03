package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/live"
)

func init() {
	caddy.RegisterModule(new(Page))
}

// Page is the links page, on which people find, understand, create and edit the links of a
// shortlink handler in a browser.
//
// It answers requests below its path, `/.links` by default, and passes all others on. Every user
// whom Caddy knows by name may read it: put `basic_auth`, `forward_auth` or another provider of
// authentication in front of it. A request without a name is answered with status 403.
//
// Below the path are: the start page with a search box (`?q=`), `key/<key>` for each rule, `new`,
// `changes`, `import`, `try?url=`, `serving`, `export.json`, `export.csv` and `opensearch.xml`. A
// client that prefers `application/json` gets JSON, and one that asks for no HTML plain text.
//
// Edits work like those of the admin endpoint: they go to the first source that can be written to,
// with all checks, and only if nobody has changed the rule meanwhile. An edit that changes other
// links, or that there is a warning about, says so and waits for a second click.
type Page struct {
	// The name of the shortlink handler whose links these are. Default: the only one there is, or the
	// only one at the host that a request is for.
	HandlerName string `json:"handler_name,omitempty"`

	// The path below which the page answers, as the handler sees it: under `handle_path` the one that
	// is left. Default: `/.links`.
	Path string `json:"path,omitempty"`

	// A placeholder for the name of the user, such as `{http.request.header.Remote-User}` behind
	// `forward_auth`. One that is unknown, unset or empty is no name.
	// Default: `{http.auth.user.id}`, which `basic_auth` sets.
	User string `json:"user,omitempty"`

	// Who may read: `users`, those with a name, or `everyone`. Default: `users`.
	Read string `json:"read,omitempty"`

	// Who may edit: `users`, those with a name, or `nobody`. Default: `users`.
	Write string `json:"write,omitempty"`

	// Answers every request that comes to the handler: an unmatched path with status 404 and keys that
	// were perhaps meant, `KEY+` with the page of the key, and `/` with the start page. What stands
	// behind the handler is never asked. Everybody is answered, so that keys become easier to guess.
	// Default: false.
	Misses bool `json:"misses,omitempty"`

	ctx    caddy.Context
	logger *zap.Logger
	csrf   *http.CrossOriginProtection
	// searches, leads and exports hold a value for each request that reads all rules, to limit
	// their number.
	searches, leads, exports chan struct{}
}

const (
	mostSearches = 2 // at a time; others wait
	mostExports  = 4 // at a time; a slow client can take minutes for one
)

// The values of Read and Write.
const (
	readUsers    = "users"
	readEveryone = "everyone"
	writeUsers   = "users"
	writeNobody  = "nobody"
)

const (
	defaultPath = "/.links"
	defaultUser = "{http.auth.user.id}"
)

// CaddyModule returns the module's ID and constructor.
func (*Page) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.shortlink_page",
		New: func() caddy.Module { return new(Page) },
	}
}

// Provision sets defaults and checks the options. The error lists all that is wrong with them.
func (p *Page) Provision(ctx caddy.Context) error {
	p.ctx, p.logger = ctx, ctx.Logger()
	p.csrf = http.NewCrossOriginProtection()
	p.searches, p.exports = make(chan struct{}, mostSearches), make(chan struct{}, mostExports)
	p.leads = make(chan struct{}, 1)
	p.Path, p.User = cmp.Or(p.Path, defaultPath), cmp.Or(p.User, defaultUser)
	p.Read, p.Write = cmp.Or(p.Read, readUsers), cmp.Or(p.Write, writeUsers)
	if err := errors.Join(p.check(), p.checkHandler()); err != nil {
		return err
	}
	p.Path = strings.TrimSuffix(p.Path, "/")
	if p.Misses {
		p.warnUnlessLast()
	}
	return live.OnceStarted(ctx, func() {
		if p.keepFree() == nil {
			return
		}
		// handlers of other sites may learn later than this page that Caddy has started
		timer := time.AfterFunc(time.Second, func() {
			if err := p.keepFree(); err != nil {
				p.logger.Error("the links page has no links to show", zap.Error(err))
			}
		})
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
}

// check returns the errors of the options.
func (p *Page) check() error {
	var errs []error
	for _, o := range p.options() {
		if o.check != nil {
			errs = append(errs, o.check(*o.value))
		}
	}
	return errors.Join(errs...)
}

// keepFree makes the handler warn of rules that answer the page. It returns an error if there is no
// such handler.
func (p *Page) keepFree() error {
	rs, err := p.ruleset("")
	if p.HandlerName == "" && len(live.RunningIn(p.ctx)) > 1 {
		return nil // it depends on the hosts of requests
	}
	if err != nil {
		return err
	}
	rs.KeepFree(p.ctx, p.Path)
	if p.Misses {
		rs.Serving().Suggest("anything", 1) // the first call makes the index
	}
	return nil
}

// ruleset returns the ruleset of this page: without a name the only one, or the only one that
// answers at a host. An edit of the configuration can replace it at any time.
func (p *Page) ruleset(host string) (*live.RunningRuleset, error) {
	all := live.RunningIn(p.ctx)
	if here := answering(all, host); p.HandlerName == "" && len(here) == 1 {
		return &here[0], nil
	}
	if named := all.Named(p.HandlerName); named != nil {
		return named, nil
	}
	if err := live.CheckPage(p.HandlerName, all.Names()); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("shortlink_page needs the name of a shortlink handler, because there is "+
		"not just one; write handler <name> into its block; there are: %s",
		strings.Join(all.Names(), ", "))
}

// ServeHTTP answers a request for the page, and passes others on.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	rest, where := p.locate(r.URL.Path)
	isClean := where != unclean && arrivedClean(r)
	switch {
	case where == outside && !p.Misses:
		return next.ServeHTTP(w, r)
	case where == outside && isClean:
		return p.answerMiss(w, r)
	}
	setHeaders(w.Header())
	switch {
	case !isClean:
		return p.write(w, r, notFound(p.newLayout(r), "There is no such page."))
	case where == withoutSlash || rest == "" && !strings.HasSuffix(askedURL(r).EscapedPath(), "/"):
		return redirectBelow(w, r)
	}
	return p.serve(w, r, rest)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Page)(nil)
	_ caddyhttp.MiddlewareHandler = (*Page)(nil)
)
