package page

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// place says where a request's path lies.
type place int

const (
	outside      place = iota // not below the page's path
	withoutSlash              // the page's path itself, without its slash
	unclean                   // below it, in a spelling that matchers of Caddy take for another path
	below
)

// locate finds out where a path lies, and what remains of it behind the page's.
//
// Caddy's path matchers clean a path before they compare it, and handlers get it as it was: a
// guard on /.links/* does not see /.links/key/../../x. So no path is answered here that cleaning
// would change.
func (p *Page) locate(path string) (rest string, where place) {
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

// isClean reports whether a decoded path has no dot segment and no empty one, so that cleaning it
// changes nothing.
func isClean(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		decoded, err := url.PathUnescape(segment) // as browsers take %2e for a dot
		if err == nil && (decoded == "." || decoded == "..") || segment == "." || segment == ".." {
			return false
		}
		if segment == "" && path != "/" {
			return false
		}
	}
	return caddyhttp.CleanPath(path, true) == path
}

// arrivedClean reports whether the path that the client has asked for is a clean one, too: handlers
// in front, such as handle_path, clean it in another way than the matchers that guard it.
func arrivedClean(r *http.Request) bool { return isClean(askedURL(r).Path) }

// askedURL returns the URL that the client has asked for, before handlers in front have changed it.
func askedURL(r *http.Request) *url.URL {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok || original.URL == nil {
		return r.URL
	}
	return original.URL
}

// redirectBelow sends a client from the page's path to the same with a slash behind it. The browser
// knows the path that it asked for, whatever was cut from it since.
func redirectBelow(w http.ResponseWriter, r *http.Request) error {
	path := askedURL(r).EscapedPath()
	target := "./" + path[strings.LastIndexByte(path, '/')+1:] + "/"
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusPermanentRedirect)
	return nil
}

// policy lets the page have its own stylesheet, script and icon, and send its forms to itself.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets what all answers of the page have.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	// With no-referrer browsers send "Origin: null" on plain http, and the page's own forms are
	// refused.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// isPlaceholder reports whether a text is one placeholder and nothing else.
func isPlaceholder(text string) bool {
	inner, opens := strings.CutPrefix(text, "{")
	inner, closes := strings.CutSuffix(inner, "}")
	return opens && closes && inner != "" && !strings.ContainsAny(inner, "{}\\")
}

// userOf returns the name of who asks, or "" for nobody. A placeholder that Caddy does not know
// stays as it is written, which must not be a name.
func (p *Page) userOf(r *http.Request) string {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	name, err := repl.ReplaceOrErr(p.User, true, true)
	name = strings.TrimSpace(name)
	if err != nil || isPlaceholder(name) {
		return ""
	}
	return name
}

// mayRead reports whether a user, "" for nobody by name, may read the page.
func (p *Page) mayRead(user string) bool { return user != "" || p.Read == readEveryone }

// mayWrite reports whether a user may edit.
func (p *Page) mayWrite(user string) bool { return user != "" && p.Write == writeUsers }
