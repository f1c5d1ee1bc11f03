package shortlink

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// answer is the handler's answer to a request that it does not pass on. It is one allocation, with
// everything that headers and placeholders refer to.
type answer struct {
	result resolver.Result
	// location and cacheControl are header values. Each answer owns its own, because other handlers
	// may change them.
	location, cacheControl [1]string
}

// resolve resolves a request, whose path is empty if its target is not a path. The answer is nil if
// no key matches; the error is the resolver's, or errGone.
func (h *Handler) resolve(serving *live.Loaded, request *resolver.Request) (*answer, error) {
	if request.Target.Pathname == "" {
		h.rules.Count(&resolver.Result{Outcome: resolver.Pass}, serving)
		return nil, nil
	}
	buffer, _ := h.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	destination, result := serving.Ruleset.AppendDestination((*buffer)[:0], request)
	h.rules.Count(&result, serving)
	a := newAnswer(destination, result, h.cacheControl(serving, &result))
	if cap(destination) <= maxBuffer {
		*buffer = destination
		h.buffers.Put(buffer)
	}
	if result.Outcome == resolver.Gone {
		return a, errGone
	}
	return a, result.Err
}

// cacheControl returns the Cache-Control value for a redirect.
func (h *Handler) cacheControl(serving *live.Loaded, result *resolver.Result) string {
	value, lifetime, isPermanent := h.cacheTemporary, h.Cache, false
	switch result.Status {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		value, lifetime, isPermanent = h.cachePermanent, cmp.Or(h.CachePermanent, h.Cache), true
	}
	if !serving.HasWindows() || value == "" && !isPermanent || result.Outcome != resolver.Redirect {
		return value
	}
	end := serving.EndOf(result)
	if end == schedule.End {
		return value
	}
	// A permanent redirect is kept for ever where nothing says how long.
	left := max(0, time.Until(time.Unix(int64(end), 0)))
	if value == "" || left < time.Duration(lifetime) {
		return "max-age=" + strconv.FormatInt(int64(left/time.Second), 10)
	}
	return value
}

// maxBuffer is the largest buffer that is reused.
const maxBuffer = 16 << 10

// newAnswer returns the answer for a result, or nil if no key matches.
func newAnswer(destination []byte, result resolver.Result, cacheControl string) *answer {
	switch result.Outcome {
	case resolver.Pass:
		if result.Key == "" {
			return nil
		}
		return &answer{result: result}
	case resolver.Failed, resolver.Gone:
		return &answer{result: result}
	}
	result.Destination = string(destination)
	return &answer{
		result:       result,
		location:     [1]string{result.Destination},
		cacheControl: [1]string{cacheControl},
	}
}

// writeTo sends the redirect: the destination, how long it may be kept, and no body.
func (a *answer) writeTo(w http.ResponseWriter) {
	header := w.Header()
	header["Location"] = a.location[:]
	if a.cacheControl[0] != "" {
		header["Cache-Control"] = a.cacheControl[:]
	}
	w.WriteHeader(a.result.Status)
}

const (
	placeholderPrefix      = "http.shortlink."
	placeholderKey         = placeholderPrefix + "key"
	placeholderDestination = placeholderPrefix + "destination"
	placeholderHops        = placeholderPrefix + "hops"
	placeholderOutcome     = placeholderPrefix + "outcome"
)

// placeholder returns the value of a placeholder, as a [caddy.ReplacerFunc].
func (a *answer) placeholder(name string) (any, bool) {
	if !strings.HasPrefix(name, placeholderPrefix) {
		return nil, false
	}
	switch name {
	case placeholderKey:
		return a.result.Key, true
	case placeholderDestination:
		return a.result.Destination, true
	case placeholderHops:
		return a.result.Hops, true
	case placeholderOutcome:
		return a.result.Outcome.String(), true
	}
	return nil, false
}

// passed returns the placeholders of a request that passes. They are the same for all such
// requests, so that passing allocates nothing.
func passed(name string) (any, bool) {
	a := answer{result: resolver.Result{Outcome: resolver.Pass}}
	return a.placeholder(name)
}

// publish sets the placeholders of a request. A replacer asks its providers in order, but first the
// values that were set by name. If an earlier shortlink handler is a provider, the values are set
// by name to override it.
func publish(repl *caddy.Replacer, values caddy.ReplacerFunc) {
	if _, published := repl.Get(placeholderOutcome); !published {
		repl.Map(values)
		return
	}
	for _, name := range [...]string{placeholderKey, placeholderDestination, placeholderHops,
		placeholderOutcome} {
		value, _ := values(name)
		repl.Set(name, value)
	}
}

// logAccess adds the outcome of a request to its line of the access log, as an object shortlink. If
// several handlers see the request, the last one wins.
func logAccess(r *http.Request, entry zapcore.ObjectMarshaler) {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Logs == nil {
		return
	}
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Object("shortlink", entry))
	}
}

// MarshalLogObject writes the outcome of a request.
func (a *answer) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddString("key", a.result.Key)
	encoder.AddString("destination", a.result.Destination)
	encoder.AddInt("hops", a.result.Hops)
	encoder.AddString("outcome", a.result.Outcome.String())
	return nil
}

// passedEntry is the log entry of a request that passes.
type passedEntry struct{}

// MarshalLogObject writes that the request has passed.
func (passedEntry) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddString("outcome", "pass")
	return nil
}

// unread is the handler behind rules of which some have never been read. A 404 would make clients
// and search engines believe that a link is gone, so it becomes an error with status 503.
type unread struct{ next caddyhttp.Handler }

var errUnread = errors.New("a source of rules has not been read since Caddy has started")

// ServeHTTP passes on what the next handler answers, but for a 404.
func (u unread) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	before := w.Header().Clone()
	recorder := caddyhttp.NewResponseRecorder(w, new(bytes.Buffer),
		func(status int, _ http.Header) bool { return status == http.StatusNotFound })
	err := u.next.ServeHTTP(recorder, r)
	failed, _ := errors.AsType[caddyhttp.HandlerError](err)
	if failed.StatusCode != http.StatusNotFound && (err != nil || !recorder.Buffered()) {
		return err
	}
	clear(w.Header())
	maps.Copy(w.Header(), before)
	w.Header().Set("Retry-After", "10")
	return caddyhttp.Error(http.StatusServiceUnavailable, errUnread)
}
