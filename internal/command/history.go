package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/history"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
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
	if forgets {
		response, err := r.do(http.MethodDelete, r.changePath(args[1]), nil, nil)
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	var all []history.Entry
	if a.digest != "" {
		all = make([]history.Entry, 1)
		err = r.get(r.changePath(a.digest), &all[0])
	} else {
		err = r.get(r.path("history")+"?key="+url.QueryEscape(strings.Join(args, "")), &all)
	}
	switch {
	case err != nil:
		return err
	case a.format == formatJSON:
		return printable.NewJSONEncoder(cmd.OutOrStdout()).Encode(all)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	switch {
	case len(all) == 0 && len(args) > 0:
		fmt.Fprintf(out, "No changes of the key %q are kept.\n", args[0])
	case len(all) == 0:
		fmt.Fprintln(out, "No changes are kept.")
	}
	for _, e := range all {
		show.WriteEntry(out, &e)
	}
	return out.Flush()
}

// changePath is the path of the change that led to a digest.
func (r *remote) changePath(digest string, below ...string) string {
	return r.path(append([]string{"history", url.PathEscape(digest)}, below...)...)
}

func restoreCommand() *cobra.Command {
	var o online
	cmd := &cobra.Command{
		Use:   "restore DIGEST",
		Short: "Makes the rules of a running Caddy those of a digest again",
		Long: `Takes all changes back that a running Caddy has made or found since its rules had a
digest, as one new change in the source that edits go to. history lists digests; the
first 8 digits of one are enough. When the command is done, these rules serve, and it says
what that changes for clients, or it was refused with a reason: rules that are signed,
inline, or come from a source that cannot be written to have to be taken back there.`,
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
			var changes show.Changes
			if err := json.NewDecoder(response.Body).Decode(&changes); err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			writeEdit(out, changes, coloursFor(cmd.OutOrStdout()))
			fmt.Fprintf(out, "%s changed back, digest %s\n",
				printable.Count(changes.Added+changes.Removed+changes.Changed, "rule"), changes.Digest)
			return out.Flush()
		}),
	}
	o.addFlags(cmd)
	return cmd
}
