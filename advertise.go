package shortlink

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// Advertise lets pages tell their own short URL.
type Advertise struct {
	// Scheme and host of short URLs, such as `https://go.example`, where these rules answer, too.
	// Default: the option `origin`, or else the request's own, which a host matcher has to have
	// checked.
	BaseURL string `json:"base_url,omitempty"`
}

// prepareAdvertising sets the origin of short URLs.
func (h *Handler) prepareAdvertising() (err error) {
	switch {
	case h.Advertise == nil:
		return nil
	case h.Advertise.BaseURL != "":
		h.shortOrigin, err = h.Advertise.origin()
		return err
	case h.Origin != "":
		h.shortOrigin, err = resolver.ParseOrigin(h.Origin)
		return err
	}
	if h.hosts != nil && len(h.hosts.named) == 0 {
		return errors.New("advertise needs an origin, because no host matcher names one: " +
			"write advertise https://go.example, or set origin, or name the site's hosts")
	}
	return nil
}

// origin returns the origin of the base URL.
func (a *Advertise) origin() (string, error) {
	origin, err := resolver.ParseOrigin(a.BaseURL)
	if err != nil {
		return "", errors.New("advertise: " + err.Error())
	}
	return origin, nil
}

// pass passes a request to the next handler, and advertises the short URL of the page.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler,
	page *resolver.Request, serving *live.Loaded) error {
	link := h.shortlink(r, page, serving)
	if link == "" {
		return next.ServeHTTP(w, r)
	}
	wrapper := caddyhttp.ResponseWriterWrapper{ResponseWriter: w}
	advertising := &advertisingWriter{ResponseWriterWrapper: wrapper, link: link}
	err := next.ServeHTTP(advertising, r)
	if err != nil {
		advertising.removeLink()
	} else {
		advertising.decide(http.StatusOK) // for a response without a body
	}
	return err
}

// shortlink returns the header value for a page, or "".
func (h *Handler) shortlink(r *http.Request, page *resolver.Request,
	serving *live.Loaded) string {
	switch {
	case h.Advertise == nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
		return ""
	// the client did not ask for a rewritten path
	case page.Target.Pathname == "" || page.Asked.Pathname != "":
		return ""
	// nor may it choose a host
	case h.shortOrigin == "" && (page.Host != r.Host || h.hosts == nil || !h.hosts.isOne(r)):
		return ""
	}
	buffer, _ := h.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	url, ok := serving.Reverse.AppendShortURL(append((*buffer)[:0], '<'), page, h.shortOrigin)
	link := ""
	if ok {
		link = string(url) + `>; rel="shortlink"`
	}
	if cap(url) <= maxBuffer {
		*buffer = url
		h.buffers.Put(buffer)
	}
	return link
}

// advertisingWriter adds a Link header to a response when its header is written.
type advertisingWriter struct {
	caddyhttp.ResponseWriterWrapper
	link    string // the header's value
	decided bool
}

// decide adds the header line to a final, successful response, unless it already names a shortlink.
func (w *advertisingWriter) decide(status int) {
	if w.decided || status < 200 {
		return
	}
	w.decided = true
	if header := w.Header(); status < 300 && !namesShortlink(header["Link"]) {
		header["Link"] = append(slices.Clip(header["Link"]), w.link)
	}
}

// removeLink removes the header line from a response that has become an error and has not been
// sent.
func (w *advertisingWriter) removeLink() {
	header := w.Header()
	header["Link"] = slices.DeleteFunc(slices.Clone(header["Link"]), func(line string) bool {
		return line == w.link
	})
	if len(header["Link"]) == 0 {
		delete(header, "Link")
	}
}

// WriteHeader writes the header.
func (w *advertisingWriter) WriteHeader(status int) {
	w.decide(status)
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write writes a part of the body, after the header.
func (w *advertisingWriter) Write(b []byte) (int, error) {
	w.decide(http.StatusOK)
	return w.ResponseWriterWrapper.Write(b)
}

// ReadFrom writes the body that a reader provides.
func (w *advertisingWriter) ReadFrom(r io.Reader) (int64, error) {
	w.decide(http.StatusOK)
	return w.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError sends what has been written so far.
func (w *advertisingWriter) FlushError() error {
	w.decide(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for callers that ignore the error.
func (w *advertisingWriter) Flush() { _ = w.FlushError() }

// namesShortlink reports whether lines of a Link header (RFC 8288 3) have the relation shortlink,
// by name or by URL. The word counts anywhere outside of "<" and ">".
func namesShortlink(lines []string) bool {
	for _, line := range lines {
		for line != "" {
			parameters, link, _ := strings.Cut(line, "<")
			_, rest, closes := strings.Cut(link, ">")
			if !closes {
				parameters, rest = line, "" // it belonged to no link
			}
			if strings.Contains(strings.ToLower(parameters), "shortlink") {
				return true
			}
			line = rest
		}
	}
	return false
}
