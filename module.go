// Package shortlink is a Caddy HTTP handler that resolves short keys to URLs by the
// deterministic algorithm of draft-go-protocol-00.
//
// Importing it registers the module http.handlers.shortlink and the Caddyfile
// directive shortlink. The algorithm itself is package resolver, which knows
// nothing of Caddy.
package shortlink

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	_ "github.com/caddy-shortlink/shortlink/internal/admin" // registers the admin endpoint
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler redirects requests for short keys to the URLs that the keys stand for, as
// draft-go-protocol-00 defines it. The longest key that is a prefix of the path wins. The rest of
// the path, the query and the fragment are kept.
//
// A request that matches no rule, or whose destination is the request itself, goes on to the next
// handler untouched. A destination is answered with a redirect without a body, whose `Location` is
// always an absolute URL. A rule that leads into a loop, or through too many internal redirects, is
// an error with status 508. An unsafe path (one that would climb out of the destination by `..`) is
// an error with status 400, and a key that is `gone` is one with status 410. A path of more than
// 8 KiB that begins as a template does is an error with status 414. `handle_errors` can handle all
// of them. A request for a key that says `pass` goes on as if no rule matched.
//
// Rules are checked and compiled when the configuration is loaded. Whatever keeps a rule from
// working is an error. Whatever its author should know is a warning in the log.
//
// The handler sets these placeholders, for later handlers, error routes and logs:
//
// Placeholder | Description
// ------------|---------------
// `{http.shortlink.key}` | The key that matched, as the rule spells it; empty where none did
// `{http.shortlink.destination}` | The URL that the request was redirected to; empty if it was not
// `{http.shortlink.hops}` | The number of internal redirects taken
// `{http.shortlink.outcome}` | `redirect`, `pass`, `gone` or `error`
//
// Where several shortlink handlers see one request, the last one to do so sets them.
type Handler struct {
	// The rules: an object from key to value. A key has no leading `/`. A value is a destination,
	// either absolute (`https://example.com/`) or internal (`/another/key`), or an object where the
	// rule has more to say:
	// `{"to": "https://example.com/", "status": 301, "exact": true, "unlisted": true}`.
	// `exact` makes the key match its own path only and nothing below it, `unlisted` keeps the rule
	// out of what is advertised, and `"query": "ignore"` (or `merge`, or `preserve`) says what becomes
	// of queries: `ignore` leaves the destination's as it is written. A `note` of at most 500 bytes
	// says why the rule is there, and no response has it. A value can also be `gone`, which makes
	// requests for the key and below it an error with status 410, or `pass`, which lets them go on, as
	// a hole in a shorter key; neither has a status or a query mode. A key with variables, such as
	// `gh/{owner}/{repo}`, is a template (RFC 6570): `{x}` matches a segment or a part of one, `{+x}`
	// one or more of them, and what they match stands for them in the destination,
	// `https://github.com/{owner}/{repo}`.
	Rules Rules `json:"rules,omitempty"`

	// Sources of more rules, which are followed while Caddy runs: the modules in the namespace
	// `http.shortlink.sources`. They are asked in this order, after the rules above; the first to
	// have a key wins.
	SourcesRaw []json.RawMessage `json:"sources,omitempty" caddy:"namespace=http.shortlink.sources inline_key=source"`

	// Scheme and host of internal destinations, such as `https://go.example.com`.
	// Set it where any host leads to this site, or behind proxies that Caddy does not
	// trust. Default: those of the request, as the client sees them.
	Origin string `json:"origin,omitempty"`

	// The status of redirects whose rule names none: 301, 302, 303, 307 or 308.
	// Default: 302.
	StatusCode int `json:"status_code,omitempty"`

	// How long clients and caches may keep a redirect: `Cache-Control: max-age`. A duration such
	// as `"1h"`; what is less than a second of it is dropped. Default: the header is not sent.
	Cache caddy.Duration `json:"cache,omitempty"`

	// The same for permanent redirects, 301 and 308. Default: that of `cache`.
	CachePermanent caddy.Duration `json:"cache_permanent,omitempty"`

	// How the queries of request and destination become one. `merge`: parameters of
	// the request replace those of the destination, as the draft has it; of several with
	// one name only the last is kept, also where the destination has no query. `preserve`:
	// the same without loss, every parameter as it is written. `ignore`: the request's
	// query is dropped. Default: `merge`.
	Query string `json:"query,omitempty"`

	// Names of query parameters which a request cannot replace where the destination has them;
	// `*` stands for all that it has. Default: none.
	Protect []string `json:"protect,omitempty"`

	// `case` makes keys match without regard to the case of ASCII letters. Default:
	// case matters.
	Fold string `json:"fold,omitempty"`

	// The number of internal redirects that pass, from 0 to 255. Default: 255.
	MaxRedirects *int `json:"max_redirects,omitempty"`

	// How many bytes of memory the compiled rules may take; rules that take more are an error.
	// Default: 2147483648, which is 2 GiB.
	MaxSize int64 `json:"max_size,omitempty"`

	// The only hosts that destinations may have: names, IP addresses, or patterns such
	// as `*.example.com`, where `*` stands for one label. Rules that lead elsewhere are
	// an error. Default: any host.
	AllowHosts []string `json:"allow_hosts,omitempty"`

	// Tests that the rules have to pass before they serve, when the configuration is loaded and before
	// every swap: an object from request path to what is expected: a destination, `pass`, `gone`
	// or `error`.
	// Default: none.
	Expect source.Expectations `json:"expect,omitempty"`

	// Lets pages tell their own short URL: successful answers to GET and HEAD requests that pass
	// through get a header `Link: <https://go.example/k>; rel="shortlink"` where a key leads to
	// exactly this page. An empty object is enough. Default: none.
	Advertise *Advertise `json:"advertise,omitempty"`

	// How many changes of the rules are kept in Caddy's storage, so that they can be looked at and
	// taken back: from 1 to 1000, or 0 for none. Default: 100.
	History *int `json:"history,omitempty"`

	// A name for this handler, of letters, digits, `-`, `_` and `.`, for messages.
	// Default: none.
	Name string `json:"name,omitempty"`

	rules *live.Ruleset // the rules that serve
	// cacheTemporary and cachePermanent are the header's value, empty for none.
	cacheTemporary, cachePermanent string
	// the origin of advertised short URLs, empty for the request's
	shortOrigin string
	hosts       *siteHosts // those of the server, if no origin is configured
	buffers     sync.Pool  // of *[]byte, in which destinations are composed
	logger      *zap.Logger
	isProxyTold atomic.Bool // whether the log has the warning of checkProxy
}

// CaddyModule returns the module's ID and constructor.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.shortlink",
		New: func() caddy.Module { return new(Handler) },
	}
}

// PublicName is the name by which people and programs address the handler.
func (h *Handler) PublicName() string { return cmp.Or(h.Name, "shortlink") }

// Provision checks the options, reads and compiles the rules, and begins to follow their sources.
// The error lists all that is wrong.
func (h *Handler) Provision(ctx caddy.Context) error {
	site := findSite(ctx)
	err := h.provision(ctx, site)
	if err != nil && h.Name == "" && site.String() != "" {
		return fmt.Errorf("site %s: %w", site, err)
	}
	return err
}

func (h *Handler) provision(ctx caddy.Context, site live.Site) error {
	config, err := h.config(ctx)
	if err != nil {
		return err
	}
	if h.Origin == "" {
		if h.hosts, config.AnyHost, err = findSiteHosts(ctx); err != nil {
			return err
		}
	}
	if err := h.prepareAdvertising(); err != nil {
		return err
	}
	h.cacheTemporary = maxAge(h.Cache)
	h.cachePermanent = maxAge(cmp.Or(h.CachePermanent, h.Cache))
	h.logger = ctx.Logger()
	config.Site = site
	config.Pages = besidesOf(ctx, config.PublicName(), site)
	h.rules = live.New(config)
	if len(config.Sources) == 0 {
		h.Rules, config.Rules = nil, nil // they are compiled, and not needed again
	}
	return h.rules.Start()
}

// config returns the handler's part of its live configuration. The error lists all that is wrong
// with it.
func (h *Handler) config(ctx caddy.Context) (config live.Config, err error) {
	identity, err := h.identity() // now, because loading the sources drops their JSON
	if err != nil {
		return config, err
	}
	h.Rules.setSource(h.Name)
	config = live.Config{
		Name: h.Name, Identity: identity, Rules: h.Rules, Expect: h.Expect,
		Advertised: h.Advertise != nil, KeptChanges: history.DefaultKept,
		Context: ctx,
	}
	if h.History != nil {
		config.KeptChanges = *h.History
	}
	for _, raw := range h.SourcesRaw {
		config.SourceJSON = append(config.SourceJSON, string(raw))
	}
	var inOptions, inSources error
	config.Options, inOptions = h.checkOptions()
	config.Sources, inSources = h.loadSources(ctx)
	if err := errors.Join(inOptions, inSources); err != nil {
		// Inline rules are checked, too, so that all errors are reported at once.
		return config, errors.Join(err, schedule.Validate(h.Rules, resolver.Options{}))
	}
	return config, nil
}

// Cleanup releases the rules; requests in progress keep them.
func (h *Handler) Cleanup() error {
	return h.rules.Stop() // also if it has failed to start
}

// loadSources prepares the sources for reading.
func (h *Handler) loadSources(ctx caddy.Context) (sources []source.Source, err error) {
	if len(h.SourcesRaw) == 0 {
		return nil, nil
	}
	modules, err := ctx.LoadModule(h, "SourcesRaw")
	if err != nil {
		return nil, err
	}
	for i, module := range modules.([]any) {
		from, ok := module.(source.Source)
		if !ok {
			return nil, fmt.Errorf("sources: number %d is a %T, which is not a source.Source", i+1, module)
		}
		sources = append(sources, from)
	}
	return sources, nil
}

// checkOptions checks all options, and returns those of the resolver. Of rules, it checks only that
// they hold no placeholders.
func (h *Handler) checkOptions() (resolver.Options, error) {
	options, inText := h.resolverOptions()
	_, inOptions := resolver.NewCompiler(options)
	return options, errors.Join(
		inText, h.checkResponse(), inJSON(inOptions), h.Rules.checkPlaceholders(), h.Expect.Problems())
}

// identity is a digest of the configuration. Handlers with equal ones share a live ruleset.
func (h *Handler) identity() (string, error) {
	b, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(b)), nil
}

// inJSON renames options in errors to their names in JSON.
func inJSON(err error) error {
	errs, _ := errors.AsType[resolver.OptionErrors](err)
	for _, e := range errs {
		if e.Option == "status" {
			e.Option = "status_code"
		}
	}
	return err
}

// maxAge returns the value of Cache-Control for a lifetime, or "".
func maxAge(lifetime caddy.Duration) string {
	seconds := time.Duration(lifetime) / time.Second
	if seconds <= 0 {
		return ""
	}
	return "max-age=" + strconv.FormatInt(int64(seconds), 10)
}

// checkResponse checks the options that are not about rules.
func (h *Handler) checkResponse() error {
	var name, advertise, past error
	if !validName(h.Name) {
		name = fmt.Errorf("name takes letters, digits, \"-\", \"_\" and \".\", not %q", h.Name)
	}
	if h.History != nil && (*h.History < 0 || *h.History > history.MostKept) {
		past = fmt.Errorf("history takes a number from 0 to %d, not %d", history.MostKept, *h.History)
	}
	if h.Advertise != nil && h.Advertise.BaseURL != "" {
		_, advertise = h.Advertise.origin()
	}
	return errors.Join(checkCache("cache", h.Cache), checkCache("cache_permanent", h.CachePermanent),
		advertise, past, name)
}

// checkCache checks a member for the lifetime of redirects.
func checkCache(member string, lifetime caddy.Duration) error {
	if lifetime == 0 || time.Duration(lifetime) >= time.Second {
		return nil
	}
	return fmt.Errorf("%s takes a duration of at least one second, such as \"1h\", not %s; a number "+
		"counts nanoseconds", member, time.Duration(lifetime))
}

// resolverOptions returns the options of the resolver.
func (h *Handler) resolverOptions() (resolver.Options, error) {
	query, inQuery := resolver.ParseQueryMode(h.Query)
	var inFold error
	if h.Fold != "" && h.Fold != foldCase {
		inFold = fmt.Errorf("fold takes %q, not %q", foldCase, h.Fold)
	}
	return resolver.Options{
		Status:       h.StatusCode,
		Query:        query,
		Protect:      h.Protect,
		FoldCase:     h.Fold == foldCase,
		MaxRedirects: h.MaxRedirects,
		MaxSize:      h.MaxSize,
		AllowHosts:   h.AllowHosts,
		Origin:       h.Origin,
	}, errors.Join(inQuery, inFold)
}

// foldCase is the only value of the option fold.
const foldCase = "case"

// validName reports whether a name can be used in messages, labels and paths as it is.
func validName(name string) bool {
	return name != "." && name != ".." && !strings.ContainsFunc(name, func(r rune) bool {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return false
		}
		return !strings.ContainsRune("-_.", r)
	})
}

// ServeHTTP answers a request with a redirect or an error, or passes it to next.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	serving := h.rules.Serving()
	request, _ := resolverRequest(r) // no path if the target is not one
	a, err := h.resolve(serving, &request)
	if a == nil {
		publish(repl, passed)
		logAccess(r, passedEntry{})
		if serving.IsIncomplete() {
			next = unread{next}
		}
		return h.pass(w, r, next, &request, serving)
	}
	logAccess(r, a)
	publish(repl, a.placeholder)
	switch {
	case err != nil:
		return caddyhttp.Error(statusOf(err), err)
	case a.result.Outcome == resolver.Pass:
		return h.pass(w, r, next, &request, serving)
	}
	if a.result.Hops > 0 && !h.isProxyTold.Load() {
		h.checkProxy(r, &request, a.result.Destination)
	}
	a.writeTo(w)
	return nil
}

// errGone is the error of a request for a key that is gone.
var errGone = errors.New("the key is gone")

// statusOf returns the status for errGone or an error of the resolver.
func statusOf(err error) int {
	switch {
	case err == errGone:
		return http.StatusGone
	case errors.Is(err, resolver.ErrTooManyRedirects):
		return http.StatusLoopDetected
	case err == resolver.ErrPathTooLong:
		return http.StatusRequestURITooLong
	}
	return http.StatusBadRequest
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
