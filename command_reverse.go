package shortlink

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// reversing is what "caddy shortlink reverse" is asked to do.
type reversing struct {
	input  input
	hosts  []string
	below  bool
	format string
}

func reverseCommand() *cobra.Command {
	var r reversing
	cmd := &cobra.Command{
		Use:   "reverse [--config FILE] [--rules FILE]... [--host HOST]... [--below] [--format text|json] URL...",
		Short: "Lists every key that leads to a URL",
		Long: `Lists the keys that lead to URLs, on this site or elsewhere, directly, through a
chain, with a part of the path, or as templates: what breaks when a page moves.
A URL can be a path, which is one of the site. The site is that of the configured
origin, and of the hosts given with --host: without them, destinations that are
paths lead to URLs that are paths, and to no others. Default ports and the
spelling of hosts and paths do not matter; the fragment counts where the URL has
one.

With --below the keys are listed that lead to the URL or to anything below it,
whatever query and fragment they add: what breaks when a site moves.

Exit status 1 says that no key leads to one of the URLs.`,
		Example: `  caddy shortlink reverse --config Caddyfile https://caddyserver.com/docs/
  caddy shortlink reverse --rules links.json --host www.example.com /about
  caddy shortlink reverse --rules links.json --below https://old-wiki.example/`,
		RunE: exiting(func(cmd *cobra.Command, urls []string) error { return r.run(cmd, urls) }),
	}
	r.input.addFlags(cmd)
	cmd.Flags().BoolVar(&r.below, "below", false, "List what leads to anything below the URLs, too")
	cmd.Flags().StringArrayVar(&r.hosts, "host", nil, "A host of the site, with its port if that is not the default one; can be given again")
	formatFlag(cmd, &r.format)
	return cmd
}

func (r *reversing) run(cmd *cobra.Command, urls []string) error {
	if err := errors.Join(checkFormat(r.format), checkHosts(r.hosts)); err != nil {
		return err
	}
	if len(urls) == 0 {
		return errors.New("there is no URL; write the URLs that keys may lead to")
	}
	h, ruleset, err := r.input.compile(cmd, nil)
	if err != nil {
		return err
	}
	defer h.close()
	out := bufio.NewWriter(cmd.OutOrStdout())
	nothing := false
	for _, url := range urls {
		leads, err := leadsTo(ruleset, url, h.rules.siteOrigin(), r.hosts, r.below)
		if err != nil {
			return err
		}
		n, err := leads.write(out, r.format)
		if err != nil {
			return err
		}
		nothing = nothing || n == 0
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if nothing {
		return errFound
	}
	return nil
}

// leadsToURL are the ways to a URL.
type leadsToURL struct {
	url string
	all iter.Seq[leadJSON] // which may be millions
}

// leadJSON is a way to a URL: what to ask for, the key that matches that, and where it leads.
type leadJSON struct {
	Path        string `json:"path"`
	Key         string `json:"key"`
	Destination string `json:"destination"`
	Unlisted    bool   `json:"unlisted,omitempty"`
	Position    string `json:"position,omitempty"`
}

// leadsTo finds the ways to a URL. A path is one of the site, whose origin is given, with more hosts
// that it has.
func leadsTo(ruleset *resolver.Ruleset, url, site string, hosts []string, below bool) (leadsToURL, error) {
	origins := originsOfSite(url, site, hosts)
	var requests []resolver.Request
	for _, origin := range origins {
		request, err := resolver.ParseRequest(absolute(url, origin))
		if err != nil {
			return leadsToURL{}, fmt.Errorf("%w%s", err, cmp.Or(insteadOfURL(url), ", nor with /"))
		}
		requests = append(requests, request)
	}
	return leadsToURL{url, func(yield func(leadJSON) bool) {
		seen := map[string]bool{}
		for i, origin := range origins {
			for lead := range ruleset.LeadsTo(requests[i], origin, below) {
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

func leadOf(lead resolver.Lead, origin string) leadJSON {
	destination := lead.Destination
	if origin == source.StandInOrigin { // which nobody has written
		destination = strings.TrimPrefix(destination, source.StandInOrigin)
	}
	position := lead.Rule.Position.String()
	return leadJSON{lead.Path, lead.Rule.Key, destination, lead.Rule.Unlisted, position}
}

// originsOfSite returns those origins of the site that matter for a URL: its own, if it is one of the site's hosts, and for a path all.
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

// write writes the ways, as an object on a line or as lines for people, and returns how many there are.
func (l leadsToURL) write(out *bufio.Writer, format string) (n int, err error) {
	if format == formatJSON {
		return l.writeJSON(out)
	}
	for lead := range l.all {
		n++
		notes := []string{"key " + lead.Key}
		if lead.Position != "" {
			notes = append(notes, lead.Position)
		}
		if lead.Unlisted {
			notes = append(notes, "unlisted")
		}
		fmt.Fprintf(out, "%s -> %s (%s)\n", lead.Path, lead.Destination, strings.Join(notes, ", "))
	}
	if n == 0 {
		fmt.Fprintf(out, "%s: no key leads there\n", printable.Text(l.url))
	}
	return n, nil
}

// writeJSON writes the ways one by one, so that there is never more than one of them as JSON.
func (l leadsToURL) writeJSON(out *bufio.Writer) (n int, err error) {
	url, err := jsonOf(l.url)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, `{"url":%s,"leads":[`, url)
	separator := ""
	for lead := range l.all {
		value, err := jsonOf(lead)
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
