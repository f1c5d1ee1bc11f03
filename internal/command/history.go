package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// asking is the command line of "caddy shortlink history".
type asking struct {
	online         online
	digest, format string
}

func historyCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "history [KEY] [--digest DIGEST] | history forget DIGEST",
		Short: "Lists the changes of the rules of a running Caddy",
		Long: `Lists the changes of what a running Caddy served, newest first: when, the digests of the
rules before and after, who, and how many keys were added, removed and changed. With a
key, they are those of the key, with its rules.

--digest says exactly what the last change did that led to the rules of a digest. The
first 8 digits of a digest are enough.

history forget drops the content of the changes that led to a digest, which then cannot
be looked at or taken back. restore takes changes back.`,
		Example: `  caddy shortlink history
  caddy shortlink history docs
  caddy shortlink history --digest 1f0c2a7be3d9
  caddy shortlink history forget 1f0c2a7be3d9`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error { return a.run(cmd, args) }),
	}
	a.online.addFlags(cmd)
	cmd.Flags().StringVar(&a.digest, "digest", "", "Digest that the change has led to")
	formatFlag(cmd, &a.format, formatJSON)
	return cmd
}

func (a *asking) run(cmd *cobra.Command, args []string) error {
	if err := checkFormat(a.format, formatJSON); err != nil {
		return err
	}
	forgets := len(args) == 2 && args[0] == "forget"
	if a.digest != "" && len(args) > 0 || len(args) > 1 && !forgets {
		return errors.New("history takes one key at most, or --digest, or forget and a digest")
	}
	r, err := a.online.find()
	if err != nil {
		return err
	}
	path := r.path("history")
	switch {
	case forgets:
		response, err := r.do(http.MethodDelete, r.changePath(args[1]), nil, nil)
		if err == nil {
			response.Body.Close()
		}
		return err
	case a.digest != "":
		path = r.changePath(a.digest)
	case len(args) == 1:
		path += "?key=" + url.QueryEscape(args[0])
	}
	response, err := r.do(http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if a.format == formatJSON {
		_, err = io.Copy(cmd.OutOrStdout(), response.Body)
		return err
	}
	if a.digest != "" {
		var e history.Entry
		if err := json.NewDecoder(response.Body).Decode(&e); err != nil {
			return err
		}
		return writeEntry(cmd.OutOrStdout(), &e)
	}
	var all []history.Entry
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		return err
	}
	return writeHistory(cmd.OutOrStdout(), all)
}

// changePath is the path of the change that led to a digest.
func (r *remote) changePath(digest string, below ...string) string {
	return r.path(append([]string{"history", url.PathEscape(digest)}, below...)...)
}

// writeHistory writes a line for each change, and its keys.
func writeHistory(w io.Writer, all []history.Entry) error {
	out := bufio.NewWriter(w)
	if len(all) == 0 {
		fmt.Fprintln(out, "No changes are kept.")
	}
	for _, e := range all {
		fmt.Fprintln(out, changeText(&e.Change))
		for _, k := range e.Keys {
			writeKeyChange(out, &k)
		}
	}
	return out.Flush()
}

// writeEntry writes a change as diff does.
func writeEntry(w io.Writer, e *history.Entry) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, changeText(&e.Change))
	writeByKind(out, e.Keys, (*history.KeyChange).Kind, writeKeyChange, coloursFor(w))
	return out.Flush()
}

// shownDigits is how many digits of a digest are shown.
const shownDigits = 12

// changeText says in a line when rules became which others, and by whom.
func changeText(c *history.Change) string {
	who := "by " + c.Who()
	if !c.IsEdit() {
		who = "from " + c.Who()
	}
	var counts, first []string
	for _, n := range []struct {
		count int
		word  string
	}{{c.Added, "added"}, {c.Removed, "removed"}, {c.Changed, "changed"}} {
		if n.count > 0 {
			counts = append(counts, fmt.Sprint(n.count, " ", n.word))
		}
	}
	for _, f := range c.First[:min(len(c.First), 3)] {
		first = append(first, f.Key)
	}
	text := fmt.Sprintf("%s  %.*s -> %.*s  %s: %s", c.Time.Format(time.RFC3339), shownDigits, c.Old,
		shownDigits, c.New, who, strings.Join(counts, ", "))
	if len(first) > 0 {
		text += " (" + strings.Join(first, ", ")
		if len(c.First) > len(first) {
			text += ", ..."
		}
		text += ")"
	}
	if c.Missing != "" {
		text += "; its content is missing: " + c.Missing
	}
	return text
}

// writeKeyChange writes what has become of the rule of a key.
func writeKeyChange(w io.Writer, k *history.KeyChange) {
	fmt.Fprintf(w, "  %s: was %s, now %s\n", k.Key, valueText(k.Before), valueText(k.After))
}

// valueText returns a rule in JSON as text.
func valueText(rule json.RawMessage) string {
	var text string
	switch value := history.Value(rule); {
	case value == "":
		return "no rule"
	case json.Unmarshal(rule, &text) == nil:
		return text
	default:
		return value
	}
}

func restoreCommand() *cobra.Command {
	var o online
	cmd := &cobra.Command{
		Use:   "restore DIGEST",
		Short: "Makes the rules of a running Caddy those of a digest again",
		Long: `Takes all changes back that a running Caddy has made or found since its rules had a
digest, as one new change in the source that edits go to. history lists digests; the
first 8 digits of one are enough. When the command is done, these rules serve, or it was
refused with a reason: rules that are signed, inline, or come from a source that cannot
be written to have to be taken back there.`,
		Example: `  caddy shortlink restore 1f0c2a7be3d9`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("restore takes one digest; caddy shortlink history lists them")
			}
			r, err := o.find()
			if err != nil {
				return err
			}
			response, err := r.do(http.MethodPost, r.changePath(args[0], "restore"), nil, nil)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			var restored admin.Restored
			if err := json.NewDecoder(response.Body).Decode(&restored); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s changed back, digest %s\n",
				printable.Count(restored.Keys, "rule"), restored.Digest)
			return err
		}),
	}
	o.addFlags(cmd)
	return cmd
}
