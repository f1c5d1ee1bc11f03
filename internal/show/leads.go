package show

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"strings"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/reverse"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// Leads are the ways to a URL.
type Leads struct {
	URL string
	All iter.Seq[Lead] // there may be millions
}

// Lead is a way to a URL: what to request, the key that matches, and where it leads.
type Lead struct {
	Path        string `json:"path"`
	Key         string `json:"key"`
	Destination string `json:"destination"`
	Unlisted    bool   `json:"unlisted,omitempty"`
	Position    string `json:"position,omitempty"`
}

// LeadsTo finds the ways to a URL. A path is on the site, which has this origin and perhaps more
// hosts.
func LeadsTo(ruleset *resolver.Ruleset, url, site string, hosts []string, below bool) (Leads,
	error) {
	origins := originsOfSite(url, site, hosts)
	var requests []resolver.Request
	for _, origin := range origins {
		request, err := resolver.ParseRequest(absolute(url, origin))
		if err != nil {
			return Leads{}, fmt.Errorf("%w%s", err, cmp.Or(insteadOfURL(url), ", nor with /"))
		}
		requests = append(requests, request)
	}
	return Leads{url, func(yield func(Lead) bool) {
		seen := map[string]bool{}
		for i, origin := range origins {
			for lead := range reverse.LeadsTo(ruleset, requests[i], origin, below) {
				if seen[lead.Path] {
					continue
				}
				if i < len(origins)-1 {
					seen[lead.Path] = true
				}
				if !yield(leadOf(lead, origin)) {
					return
				}
			}
		}
	}}, nil
}

func leadOf(lead reverse.Lead, origin string) Lead {
	destination := lead.Destination
	if origin == source.StandInOrigin { // nobody has configured it
		destination = strings.TrimPrefix(destination, source.StandInOrigin)
	}
	position := lead.Rule.Position.String()
	return Lead{lead.Path, lead.Rule.Key, destination, lead.Rule.Unlisted, position}
}

// originsOfSite returns the origins of the site that matter for a URL: its own, if it is one of the
// site's hosts, and all for a path.
func originsOfSite(url, site string, hosts []string) []string {
	origins := []string{}
	for _, host := range hosts {
		for _, scheme := range []string{"https://", "http://"} {
			u, err := weburl.Parse(scheme + host)
			target, inURL := weburl.Parse(url)
			if err == nil && (strings.HasPrefix(url, "/") || inURL == nil && target.Origin() == u.Origin()) {
				origins = append(origins, u.Origin())
			}
		}
	}
	if len(origins) == 0 || site != source.StandInOrigin {
		origins = append(origins, site)
	}
	return origins
}

// WriteJSON writes the ways one by one, so that only one at a time is in memory as JSON.
func (l Leads) WriteJSON(out *bufio.Writer) (n int, err error) {
	url, err := printable.JSON(l.URL)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, `{"url":%s,"leads":[`, url)
	separator := ""
	for lead := range l.All {
		value, err := printable.JSON(lead)
		if err != nil {
			return n, err
		}
		if _, err := fmt.Fprintf(out, "%s%s", separator, value); err != nil {
			return n, err
		}
		separator = ","
		n++
	}
	_, err = out.WriteString("]}\n")
	return n, err
}
