package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/report"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

func listCommand(configurations Configurations) *cobra.Command {
	var o online
	var format string
	var hits bool
	cmd := &cobra.Command{
		Use:   "list [PREFIX] [--hits] [--format text|json]",
		Short: "Lists the rules of a running Caddy",
		Long: `Lists the rules of a running Caddy, sorted by key: all, or those for a key and below it,
also those that are over or have not begun. As text each is on a line, as in a Caddyfile;
as JSON they are one object, as in a file of rules. As text, the exit status is 1 if there
is no rule for the key.

--hits writes in front of each rule how often it has redirected and when last, like hits.
As JSON, the value of each key is then an object: rule, count and, if there is one, last.`,
		Example: `  caddy shortlink list
  caddy shortlink list docs --hits
  caddy shortlink list docs --format json > docs.json`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(format, formatJSON); err != nil {
				return err
			}
			if len(args) > 1 {
				return errors.New("list takes one prefix at most")
			}
			prefix := ""
			if len(args) == 1 {
				prefix = strings.TrimRight(args[0], "/")
			}
			r, err := o.find()
			if err != nil {
				return err
			}
			if hits {
				return r.listHits(cmd, prefix, format, configurations.RuleLine)
			}
			return r.list(cmd.OutOrStdout(), prefix, format, configurations.RuleLine)
		}),
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&hits, "hits", false, "How often each rule has redirected, and when last")
	formatFlag(cmd, &format, formatJSON)
	return cmd
}

// list writes the rules for a key and below it, as they arrive.
func (r *remote) list(
	w io.Writer, prefix, format string, ruleLine func(resolver.Rule) string,
) error {
	response, err := r.openRules(prefix)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if format == formatJSON {
		_, err = io.Copy(w, response.Body)
		return err
	}
	return writeRules(w, response.Body, prefix, ruleLine)
}

// writeRules writes a line for each rule, as they arrive. With a prefix, it is an error if there
// are none.
func writeRules(w io.Writer, body io.Reader, prefix string, line func(resolver.Rule) string) error {
	out := bufio.NewWriter(w)
	isEmpty := true
	err := rulefile.ReadJSON(body, "", func(rule resolver.Rule) {
		isEmpty = false
		fmt.Fprintln(out, line(rule))
	})
	if err = errors.Join(err, out.Flush()); err == nil && isEmpty && prefix != "" {
		return negative{fmt.Errorf("there is no rule for the key %q or below it; write whole segments, "+
			"or list alone for all rules", prefix)}
	}
	return err
}

// openRules requests the rules for a key and below it, as JSON.
func (r *remote) openRules(prefix string) (*http.Response, error) {
	path, err := r.rulePath(prefix)
	if err != nil {
		return nil, err
	}
	return r.do(http.MethodGet, path, nil, nil)
}

// ruleHits is a rule with its hits, as JSON.
type ruleHits struct {
	Rule json.RawMessage `json:"rule"`
	admin.Hit
}

// listHits is list with the hits of each rule.
func (r *remote) listHits(
	cmd *cobra.Command, prefix, format string, ruleLine func(resolver.Rule) string,
) error {
	hits, err := r.hitsByKey(cmd.ErrOrStderr(), prefix)
	if err != nil {
		return err
	}
	response, err := r.openRules(prefix)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if format == formatJSON {
		return writeHitsJSON(cmd.OutOrStdout(), response.Body, hits)
	}
	return writeRules(cmd.OutOrStdout(), response.Body, prefix, func(rule resolver.Rule) string {
		return hitText(hits[rule.Key]) + "  " + ruleLine(rule)
	})
}

// writeHitsJSON writes rules with their hits as one object, as the rules arrive.
func writeHitsJSON(w io.Writer, body io.Reader, hits map[string]admin.Hit) error {
	out := bufio.NewWriter(w)
	var failed error
	separator := "\n"
	fmt.Fprint(out, "{")
	err := rulefile.ReadJSON(body, "", func(rule resolver.Rule) {
		key, inKey := printable.JSON(rule.Key)
		value, inValue := printable.JSON(
			ruleHits{json.RawMessage(rulefile.JSONValue(rule)), hits[rule.Key]})
		failed = errors.Join(failed, inKey, inValue)
		fmt.Fprintf(out, "%s\t%s: %s", separator, key, value)
		separator = ",\n"
	})
	fmt.Fprint(out, "\n}\n")
	return errors.Join(err, failed, out.Flush())
}

// hitsByKey returns the hits of the rules at or below a prefix, by key.
func (r *remote) hitsByKey(notes io.Writer, prefix string) (map[string]admin.Hit, error) {
	response, err := r.do(http.MethodGet, r.path("hits"), nil, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	hits := map[string]admin.Hit{}
	prefix = comparedKey(prefix)
	to := hitReader{hit: func(key string, h admin.Hit) error {
		if strings.HasPrefix(comparedKey(key), prefix) {
			hits[key] = h
		}
		return nil
	}}
	return hits, to.read(notes, response.Body)
}

// comparedKey returns a key in the form that prefixes are compared with, whether or not case
// matters.
func comparedKey(key string) string {
	return resolver.CanonicalKey(strings.TrimLeft(key, "/"), true)
}

func statusCommand() *cobra.Command {
	var o online
	var format string
	cmd := &cobra.Command{
		Use:   "status [--format text|json]",
		Short: "Says what a running Caddy serves, and from where",
		Long: `Shows the shortlink handlers of a running Caddy, or the one that --name names: how
many rules they have, where these come from, which source edits go to, the result of
the last load, and which keys are answered with an error, and why: a loop, or too many
redirects. Where rules begin or end, it says when that is next, and what fails then.

The exit status is 1 if the last load of a handler was rejected, one of its sources
cannot be reached, there are such keys, or nobody answers.`,
		Example: `  caddy shortlink status
  caddy shortlink status --name docs --format json`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(format, formatJSON); err != nil {
				return err
			}
			if len(args) > 0 {
				return errors.New("status takes no arguments")
			}
			r, err := o.endpoint()
			if err != nil {
				return err
			}
			return r.status(cmd.OutOrStdout(), format)
		}),
	}
	o.addFlags(cmd)
	formatFlag(cmd, &format, formatJSON)
	return cmd
}

func (r *remote) status(w io.Writer, format string) error {
	all, err := r.handlers()
	if err != nil {
		return err
	}
	if r.name != "" {
		one, ok := all[r.name]
		if !ok {
			return negative{fmt.Errorf("no shortlink handler %q runs at %s", r.name, r.address)}
		}
		all = map[string]show.Status{r.name: one}
	}
	if err := writeStatus(w, all, format); err != nil {
		return err
	}
	for _, h := range all {
		if h.IsAtFault() {
			return errNegative
		}
	}
	return nil
}

func writeStatus(w io.Writer, all map[string]show.Status, format string) error {
	if format == formatJSON {
		return printable.NewJSONEncoder(w).Encode(all)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		fmt.Fprintf(w, "%s: %s, digest %s\n", labelOf(name, h), printable.Count(h.Rules, "rule"),
			h.Digest)
		edited := editedSource(h)
		for i, from := range h.Sources {
			writable := ""
			switch {
			case i == edited:
				writable = " (writable; edits go here)"
			case from.Writable:
				writable = " (writable)"
			}
			fmt.Fprintf(w, "  from %s%s\n", from.Source, writable)
			if from.Outage != nil {
				fmt.Fprintf(w, "    cannot be reached since %s\n", outageText(from.Outage))
			}
		}
		fmt.Fprintf(w, "  %s at %s\n", h.LastLoad.Result, h.LastLoad.Time.Format(time.RFC3339))
		if h.LastLoad.Error != "" {
			fmt.Fprintf(w, "  failing since %s: %s\n",
				h.LastLoad.FailingSince.Format(time.RFC3339), indented(h.LastLoad.Error))
		}
		if h.History != nil {
			fmt.Fprintf(w, "  changes are not stored in the history since %s: %s\n",
				h.History.Since.Format(time.RFC3339), indented(h.History.Error))
		}
		writeBroken(w, h)
		if h.NextEdge != nil {
			fmt.Fprintf(w, "  a window begins or ends next at %s\n", h.NextEdge.Format(time.RFC3339))
		}
		if h.LooksAhead {
			fmt.Fprintln(w, "  what fails then or later is still being found out")
		}
		for _, warning := range h.WindowStatus.Warnings {
			fmt.Fprintf(w, "  warning: %s\n", indented(warning))
		}
	}
	return nil
}

// editedSource returns the index of the source that edits go to, or -1. Handlers that share a name
// are not edited.
func editedSource(h show.Status) int {
	if h.Site != "" {
		return -1
	}
	return slices.IndexFunc(h.Sources, func(s show.SourceStatus) bool { return s.Writable })
}

// labelOf returns a name, with the site if several handlers have the name.
func labelOf(name string, h show.Status) string {
	if h.Site == "" {
		return name
	}
	return name + " (" + h.Site + ")"
}

// writeBroken writes which rules are answered with an error, and why.
func writeBroken(w io.Writer, h show.Status) {
	if h.BrokenRules == 0 {
		return
	}
	fmt.Fprintf(w, "  answered with an error: %s\n", printable.Count(h.BrokenRules, "rule"))
	for _, rule := range h.Broken {
		finding := show.Finding{Position: rule.Position, Key: rule.Key, Message: rule.Reason}
		fmt.Fprintf(w, "    %s: %s\n", rule.Kind, finding.Text())
	}
	if more := h.BrokenRules - len(h.Broken); more > 0 {
		fmt.Fprintf(w, "    and %d more; %s\n", more, report.CheckNamesAll)
	}
}

// indented indents all lines but the first, as part of a list.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// outageText says since when, why, and which rules serve.
func outageText(o *show.OutageStatus) string {
	rules := "serving the rules"
	switch {
	case o.WithoutRules:
		rules = "serving without its rules"
	case o.StoredCopy:
		rules = "serving a stored copy of the rules,"
	}
	if !o.RulesOf.IsZero() {
		rules += " of " + o.RulesOf.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s, %s: %s", o.Since.Format(time.RFC3339), rules, indented(o.Error))
}

func reloadCommand() *cobra.Command {
	var o online
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Makes a running Caddy read its sources of rules now",
		Long: `Makes a running Caddy read the sources of a handler's rules now, and shows the result.
Rules that are rejected change nothing; the exit status is 1 then.`,
		Example: `  caddy shortlink reload --name docs`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("reload takes no arguments")
			}
			r, err := o.find()
			if err != nil {
				return err
			}
			response, err := r.do(http.MethodPost, r.path("reload"), nil, nil)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			var h show.Status
			if err := json.NewDecoder(response.Body).Decode(&h); err != nil {
				return err
			}
			return writeStatus(cmd.OutOrStdout(), map[string]show.Status{r.name: h}, formatText)
		}),
	}
	o.addFlags(cmd)
	return cmd
}
