package rulefile

import (
	"errors"
	"slices"

	"github.com/caddy-shortlink/shortlink/weburl"
)

// isHostOf reports whether a host is one of a site's.
func isHostOf(hosts []string, host string) bool {
	name, err := weburl.ParseHost(host)
	return err == nil && slices.Contains(hosts, name)
}

// errOtherHost is why an entry of another host is refused.
func errOtherHost(host string) error {
	return errors.New("a rule has no host; if " + quote(host) + " is this site's, name it with " +
		"--line-host, else write the entry into the file of that host's site")
}
