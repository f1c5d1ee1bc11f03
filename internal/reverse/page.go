package reverse

import (
	"cmp"
	"strings"
	"unsafe"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// page is a URL that keys may lead to: its origin, canonical path, and query with its "?".
type page struct {
	origin, path []byte
	search       string
}

// cutDestination splits a destination with the page's origin, and appends its canonical path to
// dst. It appends nothing for another origin.
func (p *page) cutDestination(dst []byte, destination string) (
	path []byte, search, fragment string,
) {
	rest, ok := strings.CutPrefix(destination, text(p.origin))
	if !ok {
		return dst, "", ""
	}
	rest, fragment = cutBefore(rest, '#')
	rest, search = cutBefore(rest, '?')
	return weburl.AppendCanonicalPath(dst, rest), search, fragment
}

// cutOrigin cuts a destination into its origin, "" for that of the request, and what follows.
func cutOrigin(destination string) (origin, rest string) {
	if strings.HasPrefix(destination, "/") {
		return "", destination
	}
	_, rest, _ = strings.Cut(destination, "://")
	slash := len(destination) - len(rest) + strings.IndexByte(rest, '/')
	return destination[:slash], destination[slash:]
}

// cutBefore splits s before the first c.
func cutBefore(s string, c byte) (before, from string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func searchOf(query string) string {
	if query == "" {
		return ""
	}
	return "?" + query
}

// compareShort orders paths or keys, the better one first: by octets, then by segments, and then in
// alphabetical order.
func compareShort(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
}

// text returns b as a string, which is valid as long as b does not change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
