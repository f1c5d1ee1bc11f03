package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/find"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
)

// resolving is the command line of "caddy shortlink resolve".
type resolving struct {
	input   input
	explain bool
	format  string
}

func resolveCommand(configurations Configurations) *cobra.Command {
	r := resolving{input: input{configurations: configurations}}
	cmd := &cobra.Command{
		Use: "resolve [--config FILE] [--rules FILE]... [--at TIME] [--explain] " +
			"[--format text|json] URL...|-",
		Short: "Says where URLs lead, and why",
		Long: `Says where URLs lead by the rules of a configuration or of files, without a
running Caddy. A URL can be a path, which is on the configured origin, or else
on http://localhost. "-" reads URLs from standard input, one a line.

With --config it also says if a request does not reach the handler, because no
site has its host or a path matcher keeps it away.

With --format json the answer to each URL is an object on a line of its own, in
order: request, outcome (redirect, pass, gone or error), destination, key, hops,
status, error, note, and with --explain explanation; absent members are left out.

The exit status is 1 if an outcome is an error.`,
		Example: `  caddy shortlink resolve --config Caddyfile.example /source/issues?q=caddy
  caddy shortlink resolve --rules links.json --explain https://go.example/docs/install
  cut -f 7 access.tsv | caddy shortlink resolve --rules links.json --format json -`,
		RunE: exiting(func(cmd *cobra.Command, urls []string) error { return r.run(cmd, urls) }),
	}
	r.input.addFlags(cmd)
	addAtFlag(cmd, &r.input.at)
	cmd.Flags().BoolVar(&r.explain, "explain", false,
		"Say for each URL which rules it met, and where the parts of the destination come from")
	formatFlag(cmd, &r.format, formatJSON)
	return cmd
}

func (r *resolving) run(cmd *cobra.Command, urls []string) error {
	if err := checkFormat(r.format, formatJSON); err != nil {
		return err
	}
	if len(urls) == 0 {
		return errors.New("there is no URL; write URLs, or - to read them from standard input")
	}
	if slices.Contains(urls, "-") && r.input.readsStdin() {
		return errStdinTwice
	}
	h, ruleset, err := r.input.compile(cmd, urls)
	if err != nil {
		return err
	}
	defer h.close()
	answers := &answers{resolving: r, handler: h.ConfigHandler, ruleset: ruleset,
		origin: h.Rules.SiteOrigin(), out: bufio.NewWriter(cmd.OutOrStdout())}
	return answers.all(cmd, urls)
}

// answers writes the outcomes of URLs.
type answers struct {
	*resolving
	handler *ConfigHandler
	ruleset *resolver.Ruleset
	origin  string
	out     *bufio.Writer
	failed  bool // an outcome was an error
}

func (a *answers) all(cmd *cobra.Command, urls []string) error {
	for _, url := range urls {
		if url == "-" {
			if err := a.fromLines(cmd); err != nil {
				return err
			}
		} else if err := a.one(url); err != nil {
			return err
		}
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	if a.failed {
		return errNegative
	}
	return nil
}

// fromLines answers the URLs on the lines of standard input. The output is flushed whenever the
// next line is not there yet.
func (a *answers) fromLines(cmd *cobra.Command) error {
	progress := newProgress(cmd.ErrOrStderr(), "resolving")
	defer progress.end()
	urls := 0
	lines := bufio.NewReaderSize(cmd.InOrStdin(), 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if url := strings.TrimSpace(line); url != "" {
			if err := a.one(url); err != nil {
				return err
			}
			urls++
			progress.showCount("URLs", urls)
			progress.step()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if lines.Buffered() == 0 {
			if err := a.out.Flush(); err != nil {
				return err
			}
		}
	}
}

// outcomeOf returns what becomes of a URL.
func (a *answers) outcomeOf(q show.Question) show.Outcome {
	if a.explain {
		return show.Explain(find.Listed{Ruleset: a.ruleset}, q)
	}
	return show.OutcomeOf(a.ruleset, q)
}

// one answers a URL.
func (a *answers) one(url string) error {
	question := show.Ask(url, a.origin)
	note := a.handler.arrive(&question)
	outcome := a.outcomeOf(question)
	outcome.Note = note
	a.failed = a.failed || outcome.Outcome == resolver.Failed.String()
	if a.format == formatJSON {
		return printable.NewJSONEncoder(a.out).Encode(outcome)
	}
	_, err := fmt.Fprintln(a.out, outcome)
	if err == nil && note != "" {
		_, err = fmt.Fprintln(a.out, "  "+note)
	}
	if err == nil && a.explain {
		err = show.WriteExplanation(a.out, outcome)
	}
	return err
}
