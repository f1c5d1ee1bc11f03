package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Site knows which URLs rules answer.
type Site struct {
	origin string   // of the requests that are made up
	hosts  []string // with their ports, as they stand in URLs, or origins
}

// SiteOf returns the site of rules. hosts are its names, as in [Check].
func SiteOf(rs *resolver.Ruleset, hosts []string) Site {
	own := originOf(rs.Options())
	s := Site{origin: own}
	for _, host := range hosts {
		written, ofOneScheme := host, strings.Contains(host, "://")
		if !ofOneScheme {
			written = "https://" + host
		}
		u, err := weburl.Parse(written)
		if err != nil {
			continue
		}
		if ofOneScheme {
			s.hosts = append(s.hosts, u.Origin())
		} else {
			s.hosts = append(s.hosts, hostOf(u.Origin()))
		}
		s.origin = cmp.Or(s.origin, u.Origin())
	}
	if own != "" || len(s.hosts) == 0 {
		s.origin = cmp.Or(s.origin, "http://localhost")
		s.hosts = append(s.hosts, hostOf(s.origin))
	}
	return s
}

// originOf returns the origin of options, as the URL Standard serialises it.
func originOf(options resolver.Options) string {
	u, err := weburl.Parse(options.Origin)
	if err != nil {
		return "" // there is none
	}
	return u.Origin()
}

// Origin returns the origin of example requests: that of the options, or else that of the first
// host.
func (s *Site) Origin() string { return s.origin }

// Path returns the path of a URL, as the URL Standard spells it, if it is one of the site.
func (s *Site) Path(url string) (path string, ok bool) {
	if !s.has(url) {
		return "", false
	}
	_, rest, _ := strings.Cut(url, "://")
	path = rest[len(hostOf(url)):]
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	return path, true
}

// has reports whether a URL, as the URL Standard spells it, is one of the site.
func (s *Site) has(url string) bool {
	scheme, _, isAbsolute := strings.Cut(url, "://")
	if !isAbsolute {
		return false
	}
	host := hostOf(url)
	origin := url[:len(scheme)+len("://")+len(host)]
	return slices.Contains(s.hosts, host) || slices.Contains(s.hosts, origin)
}

// hostOf returns the host of a URL, with the port if it has one.
func hostOf(url string) string {
	_, host, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		return host[:end]
	}
	return host
}
