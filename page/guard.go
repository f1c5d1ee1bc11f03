package page

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// pathKind says how a request's path relates to the page's.
type pathKind int

const (
	outside      pathKind = iota // not below the page's path
	withoutSlash                 // the page's path itself, without its slash
	unclean                      // below it, in a spelling that Caddy's matchers read as another path
	below
)

// locate returns the kind of a path, and what remains of it after the page's path.
//
// Caddy's path matchers clean a path before they compare it, but handlers get it uncleaned: a guard
// on /.links/* does not match /.links/key/../../x. So the page answers no path that cleaning would
// change.
func (p *Page) locate(path string) (rest string, where pathKind) {
	rest, found := strings.CutPrefix(path, p.Path)
	switch {
	case !found:
		return "", outside
	case rest == "":
		return "", withoutSlash
	case rest[0] != '/':
		return "", outside
	case !isClean(path):
		return rest[1:], unclean
	}
	return rest[1:], below
}

// isClean reports whether a decoded path has no empty segments and no dot segments, so that
// cleaning does not change it.
func isClean(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		decoded, err := url.PathUnescape(segment) // browsers take %2e for a dot
		if err == nil && (decoded == "." || decoded == "..") || segment == "." || segment == ".." {
			return false
		}
		if segment == "" && path != "/" {
			return false
		}
	}
	return caddyhttp.CleanPath(path, true) == path
}

// arrivedClean reports whether the path that the client sent is clean, too: handlers in front, such
// as handle_path, clean it differently than the matchers that guard it.
func arrivedClean(r *http.Request) bool { return isClean(askedURL(r).Path) }

// askedURL returns the URL that the client sent, before handlers in front changed it.
func askedURL(r *http.Request) *url.URL {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil {
		return r.URL
	}
	return original.URL
}

// redirectBelow redirects from the page's path to the same path with a slash. The target is
// relative to the path that the browser knows, whatever was stripped from it since.
func redirectBelow(w http.ResponseWriter, r *http.Request) error {
	path := askedURL(r).EscapedPath()
	target := "./" + path[strings.LastIndexByte(path, '/')+1:] + "/"
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	return redirect(w, target, http.StatusPermanentRedirect)
}

// policy allows the page its own stylesheet, script, icon and forms.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets the headers of all answers of the page.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	// With no-referrer, browsers send "Origin: null" on plain http, and the page's own forms would
	// be refused.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// isPlaceholder reports whether a text is exactly one placeholder.
func isPlaceholder(text string) bool {
	inner, opens := strings.CutPrefix(text, "{")
	inner, closes := strings.CutSuffix(inner, "}")
	return opens && closes && inner != "" && !strings.ContainsAny(inner, "{}\\")
}

// userOf returns the user's name, or "" if there is none. Caddy keeps an unknown placeholder as it
// is written, which must not become a name.
func (p *Page) userOf(r *http.Request) string {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	name, err := repl.ReplaceOrErr(p.User, true, true)
	name = strings.TrimSpace(name)
	if err != nil || isPlaceholder(name) {
		return ""
	}
	return name
}

// mayRead reports whether a user may read the page; "" has no name.
func (p *Page) mayRead(user string) bool { return user != "" || p.Read == readEveryone }

// mayWrite reports whether a user may edit.
func (p *Page) mayWrite(user string) bool { return user != "" && p.Write == writeUsers }
