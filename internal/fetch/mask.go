package fetch

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
)

var (
	placeholder = regexp.MustCompile(`\{[^{}]*\}`)
	userInfo    = regexp.MustCompile(`^([^:/?#@{}]*:/+|/*)(?:\{[^{}]*\}|[^/?#])*@`)
	queryValue  = regexp.MustCompile(`([^&=]*=)?[^&]+`)
)

// Mask returns a URL without what may be secret: user, password, the values of its query, and its
// fragment. Caddy's placeholders are no secrets.
func Mask(written string) string {
	plain := placeholder.ReplaceAllString(written, "0")
	if _, err := url.Parse(plain); err != nil && strings.Contains(plain, "@") {
		return "***" // a password with a delimiter cannot be told from the rest
	}
	address, _, _ := strings.Cut(written, "#")
	address, query, hasQuery := strings.Cut(address, "?")
	address = userInfo.ReplaceAllString(address, "$1***@")
	if hasQuery {
		address += "?" + queryValue.ReplaceAllString(query, "$1***")
	}
	return printable.Text(address)
}
