package command

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/source"
)

// diffing is the command line of "caddy shortlink diff".
type diffing struct {
	configurations Configurations

	adapter, name, format string
	reading               reading
	at                    time.Time // zero for now
}

func diffCommand(configurations Configurations) *cobra.Command {
	d := diffing{configurations: configurations}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW [--at TIME] [--format text|json]",
		Short: "Says what a change of rules means to clients",
		Long: `Compares two files of rules, or two Caddyfiles, and says what changes for clients: keys
that are added and removed, keys whose own rule changes, and keys whose rule is the same
but leads elsewhere, because a rule further along their chain has changed, or a shorter
key now matches them. "?…" after a key means that only requests with a query differ.
diff compares the compiled rules, as they are now or at another time. For a key with
variables it says what happens to values that no other key matches. Notes that differ
are listed apart, because clients do not see them. "-" is standard input.

With --format json each change is an object on a line of its own.

Exit status: 0 if nothing changes for clients, 1 if something does, 2 for wrong
usage and for rules that cannot be read.`,
		Example: `  git show HEAD:links.json | caddy shortlink diff - links.json
  caddy shortlink diff old/Caddyfile Caddyfile --name docs --format json`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error { return d.run(cmd, args) }),
	}
	cmd.Flags().StringVarP(&d.adapter, "adapter", "a", "",
		"Name of the adapter for both, if they are configurations but not Caddyfiles")
	cmd.Flags().StringVar(&d.name, "name", "",
		"Name of the handler, if a configuration has several")
	d.reading.addFlags(cmd)
	addAtFlag(cmd, &d.at)
	formatFlag(cmd, &d.format, formatJSON)
	return cmd
}

func (d *diffing) run(cmd *cobra.Command, args []string) error {
	if err := checkFormat(d.format, formatJSON); err != nil {
		return err
	}
	if len(args) != 2 {
		return errors.New("diff takes two files: the old rules and the new ones")
	}
	if args[0] == source.StandardInput && args[1] == args[0] {
		return errStdinTwice
	}
	if _, err := d.reading.forFiles(args); err != nil {
		return err
	}
	if d.at.IsZero() {
		d.at = time.Now() // once, for both
	}
	progress := newProgress(cmd.ErrOrStderr(), "reading rules")
	defer progress.end()
	before, oldOptions, err := d.compile(args[0], cmd.InOrStdin(), progress)
	if err != nil {
		return err
	}
	after, newOptions, err := d.compile(args[1], cmd.InOrStdin(), progress)
	if err != nil {
		return err
	}
	progress.startPhase("comparing")
	var changes []show.Change
	resolver.CompareResults(before, after, func(c resolver.Change) {
		changes = append(changes, show.ChangeOf(c))
	})
	slices.SortFunc(changes, func(a, b show.Change) int { return cmp.Compare(a.Key, b.Key) })
	notes := changedNotes(before, after)
	progress.end()
	if err := d.write(cmd.OutOrStdout(), slices.Concat(changes, notes)); err != nil {
		return err
	}
	if !reflect.DeepEqual(oldOptions, newOptions) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Note: the options of the two differ; what that does to the "+
			"queries of requests is not compared.")
		return errNegative
	}
	if len(changes) > 0 {
		return errNegative
	}
	return nil
}

// compile compiles the rules of one side.
func (d *diffing) compile(
	path string, stdin io.Reader, progress *progress,
) (*resolver.Ruleset, resolver.Options, error) {
	in := input{configurations: d.configurations, rules: []string{path},
		reading: d.reading.forFile(path), at: d.at}
	if d.adapter != "" || isCaddyfileName(path) {
		in = input{configurations: d.configurations, config: path, adapter: d.adapter, name: d.name,
			at: d.at}
	}
	h, err := in.openOne(stdin, nil)
	if err != nil {
		return nil, resolver.Options{}, fmt.Errorf("%s: %w", path, err)
	}
	defer h.close()
	ruleset, _, err := h.Rules.CompileRules(h.Rules.Context, progress.read)
	if err != nil {
		return nil, resolver.Options{}, printable.Shorten(err)
	}
	return ruleset, h.Rules.Options, nil
}

// isCaddyfileName reports whether Caddy takes a file with this name for a Caddyfile.
func isCaddyfileName(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return strings.HasPrefix(name, "caddyfile") || strings.HasSuffix(name, ".caddyfile")
}

func (d *diffing) write(w io.Writer, changes []show.Change) error {
	out := bufio.NewWriter(w)
	if d.format == formatJSON {
		encoder := printable.NewJSONEncoder(out)
		for _, c := range changes {
			if err := encoder.Encode(c); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	writeChanges(out, changes, coloursFor(w))
	return out.Flush()
}

// changeTitles are the kinds of changes, in the order of the text.
var changeTitles = [...]struct {
	kind   resolver.ChangeKind
	title  string
	colour int
}{
	{resolver.ChangeAdded, "added", green},
	{resolver.ChangeRemoved, "removed", red},
	{resolver.ChangeEdited, "changed", yellow},
	{resolver.ChangeAffected, "affected: their own rules are the same, and lead elsewhere", yellow},
	{show.ChangeNote, "with another note, which no client sees", yellow},
	{show.ChangeWindows, "with changes at other times", yellow},
}

// writeChanges writes changes as text, kind by kind.
func writeChanges(w *bufio.Writer, changes []show.Change, c colours) {
	isLater := func(c show.Change) bool { return c.Kind == show.ChangeWindows }
	switch {
	case slices.ContainsFunc(changes, show.Change.IsForClients):
	case slices.ContainsFunc(changes, isLater):
		fmt.Fprintln(w, "Nothing changes for clients now.")
	default:
		fmt.Fprintln(w, "Nothing changes for clients.")
	}
	for _, t := range changeTitles {
		var lines strings.Builder
		n := 0
		for _, change := range changes {
			if change.Kind == string(t.kind) {
				n++
				writeChange(&lines, change)
			}
		}
		if n > 0 {
			c.heading(w, t.colour, fmt.Sprintf("%d %s", n, t.title))
			w.WriteString(lines.String()) //nolint:errcheck // the last flush gives the first error
		}
	}
}

// writeChange writes what changes for a key.
func writeChange(w io.Writer, c show.Change) {
	for _, line := range c.Lines() {
		fmt.Fprintf(w, "  %s%s: was %s, now %s\n", line.Requests, c.Place(), line.Before, line.After)
	}
}

// changedNotes returns the notes that differ, by key.
func changedNotes(before, after *resolver.Ruleset) (notes []show.Change) {
	for now := range after.Rules() {
		number, known := before.NumberOf(now.Key)
		if !known {
			continue
		}
		if was, serves := before.Numbered(number); serves && was.Note != now.Note {
			notes = append(notes, show.NoteChangeOf(was.Note, now))
		}
	}
	slices.SortFunc(notes, func(a, b show.Change) int { return cmp.Compare(a.Key, b.Key) })
	return notes
}
