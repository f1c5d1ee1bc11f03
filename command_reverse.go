package shortlink

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/resolver"
)

// reversing is what "caddy shortlink reverse" is asked to do.
type reversing struct {
	input  input
	below  bool
	format string
}

func reverseCommand() *cobra.Command {
	var r reversing
	cmd := &cobra.Command{
		Use:   "reverse [--config FILE] [--rules FILE]... [--below] [--format text|json] URL...",
		Short: "Lists every key that leads to a URL",
		Long: `Lists the keys that lead to URLs, on this site or elsewhere, directly, through a
chain, with a part of the path, or as templates: what breaks when a page moves.
A URL can be a path, which is one of the configured origin, or else of a site
that has none. Host, default port and spelling of the path do not matter; the
fragment counts where the URL has one.

With --below the keys are listed that lead to the URL or to anything below it,
whatever query and fragment they add: what breaks when a site moves.

Exit status 1 says that no key leads to one of the URLs.`,
		Example: `  caddy shortlink reverse --config Caddyfile https://caddyserver.com/docs/
  caddy shortlink reverse --rules links.json --below https://old-wiki.example/`,
		RunE: exiting(func(cmd *cobra.Command, urls []string) error { return r.run(cmd, urls) }),
	}
	r.input.addFlags(cmd)
	cmd.Flags().BoolVar(&r.below, "below", false, "List what leads to anything below the URLs, too")
	formatFlag(cmd, &r.format)
	return cmd
}

func (r *reversing) run(cmd *cobra.Command, urls []string) error {
	if err := checkFormat(r.format); err != nil {
		return err
	}
	if len(urls) == 0 {
		return errors.New("there is no URL; write the URLs that keys may lead to")
	}
	h, err := r.input.openOne()
	if err != nil {
		return err
	}
	defer h.close()
	progress := newProgress(cmd.ErrOrStderr(), "reading rules")
	ruleset, _, err := h.compileRules(h.ctx, progress.step)
	progress.end()
	if err != nil {
		return readable(err)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	nothing := false
	for _, url := range urls {
		leads, err := leadsTo(ruleset, url, h.siteOrigin(), r.below, nil)
		if err != nil {
			return err
		}
		nothing = nothing || len(leads.Leads) == 0
		if err := leads.write(out, r.format); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if nothing {
		return errFound
	}
	return nil
}

// leadsJSON are the ways to a URL, for programs.
type leadsJSON struct {
	URL   string     `json:"url"`
	Leads []leadJSON `json:"leads"`
}

// leadJSON is a way to a URL: what to ask for, the key that matches that, and where it leads.
type leadJSON struct {
	Path        string `json:"path"`
	Key         string `json:"key"`
	Destination string `json:"destination"`
	Unlisted    bool   `json:"unlisted,omitempty"`
	Position    string `json:"position,omitempty"`
}

// leadsTo finds the ways to a URL. A path is one of the site's origin.
func leadsTo(ruleset *resolver.Ruleset, url, site string, below bool, pause func()) (leadsJSON, error) {
	request, err := resolver.ParseRequest(absolute(url, site))
	if err != nil {
		return leadsJSON{}, err
	}
	leads := leadsJSON{URL: url, Leads: []leadJSON{}}
	for _, lead := range ruleset.LeadsTo(request, site, below, pause) {
		leads.Leads = append(leads.Leads, leadJSON{lead.Path, lead.Rule.Key, lead.Destination, lead.Rule.Unlisted, lead.Rule.Position.String()})
	}
	return leads, nil
}

// write writes the ways to a URL: as an object on a line, or as lines for people.
func (l leadsJSON) write(out *bufio.Writer, format string) error {
	if format == formatJSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(l)
	}
	if len(l.Leads) == 0 {
		fmt.Fprintf(out, "%s: no key leads there\n", l.URL)
	}
	for _, lead := range l.Leads {
		notes := []string{"key " + lead.Key}
		if lead.Position != "" {
			notes = append(notes, lead.Position)
		}
		if lead.Unlisted {
			notes = append(notes, "unlisted")
		}
		fmt.Fprintf(out, "%s -> %s (%s)\n", lead.Path, lead.Destination, strings.Join(notes, ", "))
	}
	return nil
}
