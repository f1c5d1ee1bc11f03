package shortlink

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logAccess adds what became of a request to its line of the access log, as an object shortlink, if there is an access
// log. Where several handlers see the request, the last one to do so tells.
func logAccess(r *http.Request, entry zapcore.ObjectMarshaler) {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Logs == nil {
		return
	}
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Object("shortlink", entry))
	}
}

// MarshalLogObject writes what became of a request.
func (a *answer) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddString("key", a.result.Key)
	encoder.AddString("destination", a.result.Destination)
	encoder.AddInt("hops", a.result.Hops)
	encoder.AddString("outcome", a.result.Outcome.String())
	return nil
}

// passedEntry is what the log says of a request that goes on.
type passedEntry struct{}

// MarshalLogObject writes that the request has passed.
func (passedEntry) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddString("outcome", "pass")
	return nil
}
