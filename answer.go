package shortlink

import (
	"net/http"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// answer is what the handler says to a request that it does not pass on. It is
// allocated once for each, with all that headers and placeholders refer to.
type answer struct {
	result resolver.Result
	// location and cacheControl are header values; the response and the handlers
	// around it may change them, so they are nobody else's.
	location, cacheControl [1]string
}

// resolve asks the rules about a request, which has no path where it asks for none. The answer is nil when the request passes, and the
// error is the resolver's.
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
	a := h.answer(destination, result)
	if cap(destination) <= maxBuffer {
		*buffer = destination
		h.buffers.Put(buffer)
	}
	return a, result.Err
}

// maxBuffer is the largest buffer that is kept for later requests.
const maxBuffer = 16 << 10

// answer makes an answer of what the resolver said, nil when the request passes.
func (h *Handler) answer(destination []byte, result resolver.Result) *answer {
	switch result.Outcome {
	case resolver.Pass:
		return nil
	case resolver.Failed:
		return &answer{result: result}
	}
	result.Destination = string(destination)
	return &answer{
		result:       result,
		location:     [1]string{result.Destination},
		cacheControl: [1]string{h.cacheControl},
	}
}

// writeTo sends the redirect: no body, and nothing but the destination and how long it
// may be kept.
func (a *answer) writeTo(w http.ResponseWriter) {
	header := w.Header()
	header["Location"] = a.location[:]
	if a.cacheControl[0] != "" {
		header["Cache-Control"] = a.cacheControl[:]
	}
	w.WriteHeader(a.result.Status)
}
