package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-shortlink/shortlink/internal/client"
	"github.com/caddy-shortlink/shortlink/internal/effects"
	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/past"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func init() {
	caddy.RegisterModule(new(API))
}

// API answers on Caddy's admin endpoint what the shortlink handlers that run know, and edits
// their rules. A handler is called by its name, or `shortlink` where it has none; where several
// would have one name, they are `shortlink`, `shortlink-2` and so on.
//
//	GET /shortlink/
//	    All handlers: an object by name
//	GET /shortlink/<name>
//	    A handler: its number of rules, their digest, its sources and since when one cannot be
//	    reached, what came of the last load, and which rules are answered with an error
//	GET /shortlink/<name>/rules
//	    Its rules, as an object sorted by key, with the digest as ETag
//	GET /shortlink/<name>/rules/<key>
//	    The rules for the key and below it
//	GET /shortlink/<name>/resolve?url=<url>
//	    Where a URL leads, and why
//	GET /shortlink/<name>/reverse?url=<url>
//	    Every key that leads to a URL; with &below=true also what leads to anything below it,
//	    with &host=<host> on a site that has this host
//	GET /shortlink/<name>/hits
//	    How often each rule has redirected, and when last; with ?unused=90d the rules that nobody
//	    has needed for so long; with ?days=true how often all rules together have redirected on
//	    each of the last 90 days, with &key=<key> how often one has
//	PATCH /shortlink/<name>/rules
//	    Sets and removes rules by a JSON merge patch (RFC 7396) of their object, all of them or none:
//	    null removes a rule, a string replaces it, the members of an object are merged with its own.
//	    Answers what that has changed; with ?dry_run=true what it would change, and changes nothing
//	PUT /shortlink/<name>/rules
//	    Makes the rules those of an object, in the same way
//	GET /shortlink/<name>/history
//	    The changes of the rules that served, newest first: when, the digests before and after, who,
//	    and how many keys were added, removed and changed; with ?key=<key> those of one key
//	GET /shortlink/<name>/history/<digest>
//	    The last change that led to a digest: for each key its rule before and after. The first 8
//	    digits are enough, here and below
//	POST /shortlink/<name>/history/<digest>/restore
//	    Makes the rules those of a digest again, as one edit, and answers what that has changed
//	DELETE /shortlink/<name>/history/<digest>
//	    Drops the contents of the changes that led to a digest
//	POST /shortlink/<name>/reload
//	    Reads all sources now, and answers as for the handler, or what is wrong with them
//	PUT /shortlink/<name>/rules/<key>
//	    Sets the rule of a key; the body is its value, a string or an object, as JSON. The header
//	    Shortlink-Was of the answer has the value that it replaces, as JSON
//	DELETE /shortlink/<name>/rules/<key>
//	    Removes the rule of a key, whose value Shortlink-Was has
//
// With `Prefer: effects` the answer to an edit says which other links it has led elsewhere, and
// what there is to warn of since.
//
// Edits go into the first source that can be written to: a file or a storage
// entry that is not signed, or Redis. They are checked as new rules of a source are, and written if
// these would serve. With `If-Match: "<digest>"` an edit is refused with status 412 if the rules
// have changed since they had this digest, with `If-None-Match: *` if the key has a rule, and with
// `If-Match: *` if it has none. A key is written as in the path of a URL.
type API struct {
	// reversing holds a value while a request is answered that needs much memory.
	reversing chan struct{}
}

// CaddyModule returns the module's ID and constructor.
func (*API) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.shortlink",
		New: func() caddy.Module { return &API{make(chan struct{}, 1)} },
	}
}

// Path is the beginning of the endpoint's paths.
const Path = "/shortlink/"

// Routes returns the one route; API dispatches below it, because keys are paths.
func (a *API) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: Path, Handler: caddy.AdminHandlerFunc(a.serve)}}
}

// serve answers a request.
func (a *API) serve(w http.ResponseWriter, r *http.Request) error {
	err := a.answer(w, r)
	if err == nil {
		return nil
	}
	if status := client.StatusOf(err); status != http.StatusInternalServerError {
		answerRefusal(w, status, err)
		return nil
	}
	return caddy.APIError{HTTPStatus: http.StatusInternalServerError, Err: err}
}

// answerRefusal answers and logs a refusal as Caddy does, but does not escape the "->" in a loop.
func answerRefusal(w http.ResponseWriter, status int, refused error) {
	caddy.Log().Named("admin.api").Error("request error",
		zap.Error(refused), zap.Int("status_code", status))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	answer := map[string]string{"error": refused.Error()}
	printable.NewJSONEncoder(w).Encode(answer) //nolint:errcheck // whoever asked has gone
}

// answer dispatches a request.
func (a *API) answer(w http.ResponseWriter, r *http.Request) error {
	name, rest, _ := strings.Cut(strings.TrimPrefix(escapedPath(r.URL), Path), "/")
	all := live.AllRunning()
	if name == "" {
		return allow(w, r, "GET", func() error { return listHandlers(w, all) })
	}
	named := all.Named(name)
	if named == nil {
		return client.Errorf(http.StatusNotFound, "there is no shortlink handler %q; there are: %s", name,
			strings.Join(all.Names(), ", "))
	}
	h := named.Ruleset
	if named.Shares && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return client.Errorf(http.StatusConflict, "several handlers are called %s; give each a name",
			h.PublicName())
	}
	what, key, _ := strings.Cut(rest, "/")
	switch {
	case what == "rules" && key != "":
		return answerKey(w, r, h, withVariables(key))
	case rest == "":
		return allow(w, r, "GET", func() error { return writeJSON(w, show.StatusOfRunning(named)) })
	case rest == "rules":
		return answerRules(w, r, h)
	case what == "rules": // "rules/" may lack a key by mistake
		return allow(w, r, "GET", func() error { return listRules(w, r, h, "") })
	case rest == "resolve":
		return allow(w, r, "GET", func() error { return resolveURL(w, r, h) })
	case rest == "reverse":
		return allow(w, r, "GET", func() error { return a.reverseURL(w, r, h) })
	case rest == "hits":
		return allow(w, r, "GET", func() error { return listHits(w, r, h) })
	case what == "history":
		return answerHistory(w, r, h, key)
	case rest == "reload":
		return allow(w, r, "POST", func() error { return reloadNow(w, r, h) })
	}
	return client.Errorf(http.StatusNotFound,
		"a handler has no %q; it has rules, resolve, reverse, hits, history and reload", rest)
}

// allow answers requests with one method; HEAD is a GET whose body net/http drops.
func allow(w http.ResponseWriter, r *http.Request, method string, answer func() error) error {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return answer()
	}
	w.Header().Set("Allow", method)
	return client.Errorf(http.StatusMethodNotAllowed, "this takes %s, not %s", method, r.Method)
}

// answerRules answers a request for all rules.
func answerRules(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return listRules(w, r, h, "")
	case http.MethodPut, http.MethodPatch:
		return editRules(w, r, h)
	}
	return notAllowed(w, r, "GET, PUT", "PATCH")
}

// notAllowed refuses a request's method; last is the last of those that are allowed.
func notAllowed(w http.ResponseWriter, r *http.Request, others, last string) error {
	w.Header().Set("Allow", others+", "+last)
	return client.Errorf(http.StatusMethodNotAllowed, "this takes %s and %s, not %s", others, last,
		r.Method)
}

func answerKey(w http.ResponseWriter, r *http.Request, h *live.Ruleset, key string) error {
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		return client.Errorf(http.StatusBadRequest,
			"the path of a rule has no query; write %%3F for a \"?\" of its key")
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return listRules(w, r, h, key)
	case http.MethodPut:
		return putRule(w, r, h, key)
	case http.MethodDelete:
		return deleteRule(w, r, h, key)
	}
	return notAllowed(w, r, "GET, PUT", "DELETE")
}

func listHandlers(w http.ResponseWriter, all live.Running) error {
	handlers := map[string]show.Status{}
	for _, h := range all {
		handlers[h.UniqueName] = show.StatusOfRunning(&h)
	}
	return writeJSON(w, handlers)
}

// writeJSON answers with a value.
func writeJSON(w http.ResponseWriter, value any) error {
	w.Header().Set("Content-Type", "application/json")
	return printable.NewJSONEncoder(w).Encode(value)
}

// listRules answers with the rules for a key and below it, or with all.
func listRules(w http.ResponseWriter, r *http.Request, h *live.Ruleset, key string) error {
	serving := h.Serving()
	w.Header().Set("ETag", client.EntityTag(serving.Digest))
	conditions, _ := client.PreconditionsOf(r) // an invalid one has no effect here
	if err := conditions.Check(serving.Digest); err != nil {
		return err
	}
	if conditions.IsKnown(serving.Digest) || conditions.WantsNone() {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodHead {
		return nil
	}
	return rulefile.WriteJSON(w, serving.RulesBelow(key))
}

// resolveURL answers where a URL leads, and why.
func resolveURL(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	target := r.URL.Query().Get("url")
	if target == "" {
		return client.Errorf(http.StatusBadRequest,
			"the URL is missing; write ?url=<percent-encoded URL>")
	}
	serving := h.Serving()
	outcome := show.Explain(serving.Listed(), show.Ask(target, h.SiteOrigin()))
	h.Locate(r.Context(), serving, outcome.Rules()...)
	return writeJSON(w, outcome)
}

// reverseURL answers which keys lead to a URL, one request at a time.
func (a *API) reverseURL(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	query := r.URL.Query()
	target, below := query.Get("url"), query.Get("below")
	if target == "" {
		return client.Errorf(http.StatusBadRequest,
			"the URL is missing; write ?url=<percent-encoded URL>")
	}
	if below != "" && below != "true" && below != "false" {
		return client.Errorf(http.StatusBadRequest, "below takes true or false, not %q", below)
	}
	leads, err := show.LeadsTo(h.Serving().Ruleset, target, h.SiteOrigin(), query["host"],
		below == "true")
	if err != nil {
		return client.Errorf(http.StatusBadRequest, "%w", err)
	}
	done, err := a.takeTurn(r.Context())
	if err != nil {
		return err
	}
	defer done()
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriter(w)
	_, err = leads.WriteJSON(out)
	return errors.Join(err, out.Flush())
}

// takeTurn waits until no other request that needs much memory is being answered; done ends the
// turn.
func (a *API) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case a.reversing <- struct{}{}:
		return func() { <-a.reversing }, nil
	case <-ctx.Done():
		return nil, live.ErrGone
	}
}

// reloadNow reads the sources, and answers with the result.
func reloadNow(w http.ResponseWriter, r *http.Request, h *live.Ruleset) error {
	h.Reload(r.Context())
	if r.Context().Err() != nil {
		return live.ErrGone
	}
	if h.Context.Err() != nil {
		return live.ErrUnloaded
	}
	if err := h.LastLoad().Err; err != nil {
		return client.Errorf(http.StatusUnprocessableEntity,
			"the rules are rejected, and those from before go on serving: %w", err)
	}
	return writeJSON(w, show.StatusOf(h))
}

// maxBody is the largest body of an edit. Rules are much smaller.
const maxBody = 256 << 10

// escapedPath returns the path of a URL as it was sent, with braces encoded, which RFC 3986 does
// not allow.
func escapedPath(u *url.URL) string {
	if strings.ContainsAny(u.RawPath, "{}") {
		return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(u.RawPath)
	}
	return u.EscapedPath()
}

// withVariables returns a key from a path with the braces and names of its variables decoded. A
// literal brace is escaped twice in the path of a request.
func withVariables(key string) string {
	key = strings.NewReplacer("%257B", "%7B", "%257b", "%7B", "%257D", "%7D", "%257d", "%7D", "%7B",
		"{", "%7b", "{", "%7D", "}", "%7d", "}").Replace(key)
	return variable.ReplaceAllStringFunc(key, func(e string) string {
		if decoded, err := url.PathUnescape(e); err == nil {
			return decoded
		}
		return e
	})
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// readableKey returns a key from a path as its author would write it, with characters beyond ASCII
// decoded.
func readableKey(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); {
		end := i
		for ; end+2 < len(key) && key[end] == '%' && key[end+1] >= '8'; end += 3 {
		}
		text, err := url.PathUnescape(key[i:end])
		switch {
		case end == i:
			b.WriteByte(key[i])
			end++
		case err != nil || !utf8.ValidString(text):
			b.WriteString(key[i:end])
		default:
			b.WriteString(text)
		}
		i = end
	}
	return b.String()
}

// putRule sets the rule of a key.
func putRule(w http.ResponseWriter, r *http.Request, h *live.Ruleset, key string) error {
	if err := checkMediaType(r, mediaJSON); err != nil {
		return err
	}
	rule, err := rulefile.ReadJSONValue(http.MaxBytesReader(w, r.Body, maxBody), "", readableKey(key))
	if tooLarge, is := errors.AsType[*http.MaxBytesError](err); is {
		return client.Errorf(http.StatusRequestEntityTooLarge,
			"the body is longer than %d bytes, too long for a rule", tooLarge.Limit)
	}
	if err != nil {
		return client.Errorf(http.StatusBadRequest, "%w", printable.Shorten(err))
	}
	status, effects, err := editRule(w, r, h, key, &rule)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if effects != nil {
		return printable.NewJSONEncoder(w).Encode(effects)
	}
	_, err = fmt.Fprintln(w, rulefile.JSONValue(rule))
	return err
}

// mediaJSON is the media type of rules.
const mediaJSON = "application/json"

// checkMediaType refuses a body of another type.
func checkMediaType(r *http.Request, wanted string) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != wanted {
		return client.Errorf(http.StatusUnsupportedMediaType,
			"an edit is JSON; send it with Content-Type: %s", wanted)
	}
	return nil
}

// deleteRule removes the rule of a key.
func deleteRule(w http.ResponseWriter, r *http.Request, h *live.Ruleset, key string) error {
	_, effects, err := editRule(w, r, h, key, nil)
	switch {
	case err != nil:
		return err
	case effects != nil:
		return writeJSON(w, effects)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Effects are what an edit changes besides its own rule, as JSON.
type Effects struct {
	Others   int               `json:"others"`         // the number of other links that change
	HasMore  bool              `json:"more,omitempty"` // there are more than Others
	Lines    []show.ChangeLine `json:"effects"`
	Unnamed  int               `json:"unnamed"` // how many of them have no line
	Warnings []string          `json:"warnings"`
}

// A client that wants to know the effects of an edit prefers them (RFC 7240).
const (
	HeaderPrefer  = "Prefer"
	HeaderApplied = "Preference-Applied"
	PreferEffects = "effects"
)

// note notes the effects of an edit that is about to be made.
func (f *Effects) note(of *effects.Effects) error {
	*f = Effects{Others: of.Count, HasMore: of.HasMore, Unnamed: of.Count - len(of.Others)}
	f.Lines = show.LinesOf(of.Others...)
	for _, w := range of.Warnings {
		f.Warnings = append(f.Warnings, w.String())
	}
	return nil
}

// editRule makes an edit, and answers with the new digest. It returns the status of a PUT, and the
// effects for a client that prefers them.
func editRule(w http.ResponseWriter, r *http.Request, h *live.Ruleset, key string,
	rule *resolver.Rule) (status int, effects *Effects, err error) {
	conditions, err := client.PreconditionsOf(r)
	if err != nil {
		return 0, nil, client.Errorf(http.StatusBadRequest, "%w", err)
	}
	change := live.Change{Key: key, Rule: rule, If: conditions.OfRule(key)}
	e := &live.Edit{Changes: []live.Change{change}, Remote: r.RemoteAddr,
		IfRules: conditions.OfRules()}
	if r.Header.Get(HeaderPrefer) == PreferEffects {
		effects = new(Effects)
		e.Confirm = effects.note
		w.Header().Set(HeaderApplied, PreferEffects)
	}
	were, err := h.Apply(r.Context(), e)
	if err != nil {
		return 0, nil, err
	}
	w.Header().Set("ETag", client.EntityTag(h.Serving().Digest))
	status = http.StatusCreated
	if was := were[0]; was != nil {
		w.Header().Set(HeaderWas, inASCII(past.Text(was)))
		status = http.StatusOK
	}
	return status, effects, nil
}

// HeaderWas is the header with the value that an edit has replaced or removed, as JSON.
const HeaderWas = "Shortlink-Was"

// inASCII returns a JSON text in which characters that headers cannot contain are escaped.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Interface guard
var _ caddy.AdminRouter = (*API)(nil)
