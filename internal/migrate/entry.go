package migrate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/redirects"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// HasHost reports whether a host belongs to the site.
func (t *Table) HasHost(host string) bool {
	name, err := weburl.ParseHost(host)
	return err == nil && slices.Contains(t.Reading.Hosts, name)
}

// OtherHostError is the error for an entry whose host is not the site's.
func OtherHostError(host string) error {
	return errors.New("a rule has no host; if " + printable.Quote(host) + " is this site's, name it " +
		"with --line-host; otherwise move the entry to the file of that host's site")
}

// WithoutHost returns the path of a URL of the site. It returns any other text unchanged.
func (t *Table) WithoutHost(text string) (string, error) {
	host, path, isURL := redirects.CutURL(text)
	switch {
	case !isURL:
		return text, nil
	case !t.HasHost(host):
		return "", &redirects.Elsewhere{Err: OtherHostError(host), URL: text}
	}
	return path, nil
}

// CheckDestination refuses a destination that is neither a URL nor a path.
func CheckDestination(to string) error {
	if redirects.IsURL(to) || strings.HasPrefix(to, "/") {
		return nil
	}
	return errors.New(printable.Quote(to) + " is not a destination; write one that begins with " +
		"\"/\", \"http://\" or \"https://\"")
}

// CheckPath refuses an entry's path that no rule can have.
func CheckPath(path string) error {
	end := strings.IndexAny(path, "?#")
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("a path begins with \"/\", not as in " + printable.Quote(path))
	case end < 0:
		return nil
	case path[end] == '#':
		return errors.New("clients never send \"#\" or what follows it; write %23 for the character, " +
			"or remove it")
	}
	return &redirects.Elsewhere{Err: errQuery, URL: path}
}

var errQuery = errors.New("a rule matches the path alone, which has no \"?\"; use Caddy's redir " +
	"with a query matcher")

// StatusCodes lists the statuses of rules, for messages.
const StatusCodes = "301, 302, 303, 307 or 308"

// StatusError is the error for an entry whose status no rule can have.
func StatusError(code int) error {
	instead := "write " + StatusCodes
	switch {
	case code == 410:
		instead = "write gone as the destination"
	case code >= 400:
		instead = "use Caddy's error"
	case code >= 200 && code < 300:
		instead = "use Caddy's rewrite or reverse_proxy"
	}
	return fmt.Errorf("a rule has no status %d; %s", code, instead)
}

// EncodePercents encodes each "%" that does not begin an encoded byte.
func EncodePercents(path string) string {
	return encodedTwice.ReplaceAllString(strings.ReplaceAll(path, "%", "%25"), "%$1")
}

// encodedTwice matches an encoded byte whose "%" has been encoded.
var encodedTwice = regexp.MustCompile(`%25([0-9A-Fa-f]{2})`)
