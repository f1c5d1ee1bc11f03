package command

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
)

// reversing is the command line of "caddy shortlink reverse".
type reversing struct {
	input  input
	hosts  []string
	below  bool
	format string
}

func reverseCommand(configurations Configurations) *cobra.Command {
	r := reversing{input: input{configurations: configurations}}
	cmd := &cobra.Command{
		Use: "reverse [--config FILE] [--rules FILE]... [--host HOST]... [--below] [--at TIME] " +
			"[--format text|json] URL...",
		Short: "Lists every key that leads to a URL",
		Long: `Lists the keys that lead to URLs, on this site or elsewhere, directly, through a
chain, with a part of the path, or as templates: what breaks when a page moves.
A URL can be a path on the site. The site has the configured origin and the hosts
given with --host; without them, destinations that are paths only lead to URLs
that are paths. Default ports and the spelling of hosts and paths do not matter.
The fragment counts if the URL has one.

With --below, keys are listed that lead to the URL or to anything below it,
with any query and fragment: what breaks when a site moves.

The exit status is 1 if no key leads to one of the URLs.`,
		Example: `  caddy shortlink reverse --config Caddyfile https://caddyserver.com/docs/
  caddy shortlink reverse --rules links.json --host www.example.com /about
  caddy shortlink reverse --rules links.json --below https://old-wiki.example/`,
		RunE: exiting(func(cmd *cobra.Command, urls []string) error { return r.run(cmd, urls) }),
	}
	r.input.addFlags(cmd)
	addAtFlag(cmd, &r.input.at)
	cmd.Flags().BoolVar(&r.below, "below", false, "List what leads to anything below the URLs, too")
	cmd.Flags().StringArrayVar(&r.hosts, "host", nil,
		"A host of the site, with its port if that is not the default one; can be given again")
	formatFlag(cmd, &r.format, formatJSON)
	return cmd
}

func (r *reversing) run(cmd *cobra.Command, urls []string) error {
	if err := errors.Join(checkFormat(r.format, formatJSON), checkHosts(r.hosts)); err != nil {
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
		leads, err := show.LeadsTo(ruleset, url, h.Rules.SiteOrigin(), r.hosts, r.below)
		if err != nil {
			return err
		}
		n, err := r.write(out, leads)
		if err != nil {
			return err
		}
		nothing = nothing || n == 0
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if nothing {
		return errNegative
	}
	return nil
}

// write writes the ways to a URL, as an object on a line or as text, and returns how many there
// are.
func (r *reversing) write(out *bufio.Writer, leads show.Leads) (n int, err error) {
	if r.format == formatJSON {
		return leads.WriteJSON(out)
	}
	for lead := range leads.All {
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
		fmt.Fprintf(out, "%s: no key leads there\n", printable.Text(leads.URL))
	}
	return n, nil
}
