package shortlink

import (
	"bytes"
	"errors"
	"maps"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// unread is the handler behind rules of which some have never been read. A 404 would make clients
// and search engines believe that a link is gone, so it becomes an error with status 503.
type unread struct{ next caddyhttp.Handler }

// retryAfter is when clients may ask again, in seconds.
const retryAfter = "10"

var errUnread = errors.New("a source of rules has not been read since Caddy has started")

// ServeHTTP passes on what the next handler answers, but for a 404.
func (u unread) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	before := w.Header().Clone()
	recorder := caddyhttp.NewResponseRecorder(w, new(bytes.Buffer),
		func(status int, _ http.Header) bool { return status == http.StatusNotFound })
	err := u.next.ServeHTTP(recorder, r)
	failed, isError := errors.AsType[caddyhttp.HandlerError](err)
	isMissing := isError && failed.StatusCode == http.StatusNotFound
	if !isMissing && (err != nil || !recorder.Buffered()) {
		return err
	}
	clear(w.Header())
	maps.Copy(w.Header(), before)
	w.Header().Set("Retry-After", retryAfter)
	return caddyhttp.Error(http.StatusServiceUnavailable, errUnread)
}
