package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// applying is the command line of "caddy shortlink apply".
type applying struct {
	online                   online
	replaces, isDry, isAsked bool
	digest, format           string
}

func applyCommand() *cobra.Command {
	var a applying
	var yes bool
	cmd := &cobra.Command{
		Use:   "apply FILE [--replace] [--dry-run] [--yes]",
		Short: "Changes many rules of a running Caddy as one",
		Long: `Sets and removes rules in the source of a running Caddy that edits go to: all of them,
or none. It says what that changes for clients, as diff does, and asks whether to do it.

FILE is a JSON merge patch of the rules, "-" for standard input: a string sets a rule,
null removes one, and the members of an object are merged with those that the rule has.
With --replace FILE has all rules, as list --format json prints them: what is not in it is
removed.`,
		Example: `  caddy shortlink apply campaign.json
  caddy shortlink apply links.json --replace --dry-run
  echo '{"docs": {"status": 301}, "old": null}' | caddy shortlink apply - --yes`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error {
			a.isAsked = !yes && !a.isDry
			return a.run(cmd, args)
		}),
	}
	a.online.addFlags(cmd)
	cmd.Flags().BoolVar(&a.replaces, "replace", false, "Make the rules those of FILE")
	cmd.Flags().BoolVar(&a.isDry, "dry-run", false, "Say what it would change, and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask")
	addIfMatch(cmd, &a.digest)
	formatFlag(cmd, &a.format, formatJSON)
	return cmd
}

func (a *applying) run(cmd *cobra.Command, args []string) error {
	if err := checkFormat(a.format, formatJSON); err != nil {
		return err
	}
	if len(args) != 1 {
		return errors.New("apply takes one file, of JSON")
	}
	if format, told := rulefile.FormatOf(args[0]); told && format != rulefile.JSON {
		return fmt.Errorf("apply takes JSON, and %s is %s; write: caddy shortlink convert --from %[2]s "+
			"--to json %[1]s", args[0], format)
	}
	if a.isAsked && !isTerminal(cmd.InOrStdin()) {
		return errors.New("there is no terminal to ask at; write --yes to apply without a question, or " +
			"--dry-run to see what it would change")
	}
	body, err := contentOf(args[0], cmd.InOrStdin())
	if err != nil {
		return err
	}
	r, err := a.online.find()
	if err != nil {
		return err
	}
	return placedIn(args[0], a.apply(cmd, r, body))
}

// contentOf returns the content of a file, or of standard input.
func contentOf(path string, stdin io.Reader) ([]byte, error) {
	if path == source.StandardInput {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

// apply makes the edit, or says what it would do. Somebody who is asked agrees to the rules that
// this was said of.
func (a *applying) apply(cmd *cobra.Command, r *remote, body []byte) error {
	changes, err := a.send(cmd, r, body, a.isDry || a.isAsked)
	if err != nil || !a.isAsked || changes.Added+changes.Removed+changes.Changed == 0 {
		return err
	}
	if err := ask(cmd.InOrStdin(), cmd.ErrOrStderr(), r.name); err != nil {
		return err
	}
	_, err = a.send(cmd, r, body, false)
	return err
}

// send sends the edit, prints what it changes, and keeps the digest of the rules that serve.
func (a *applying) send(
	cmd *cobra.Command, r *remote, body []byte, isDry bool,
) (changes show.Changes, err error) {
	method, header := http.MethodPut, ifMatch(a.digest)
	if !a.replaces {
		method = http.MethodPatch
		header.Set("Content-Type", admin.MediaPatch)
	}
	path := r.path(fmt.Sprintf("rules?dry_run=%t", isDry))
	response, err := r.do(method, path, header, bytes.NewReader(body))
	if err != nil {
		return changes, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&changes); err != nil {
		return changes, err
	}
	a.digest = response.Header.Get("ETag")
	if a.format == formatJSON {
		return changes, printable.NewJSONEncoder(cmd.OutOrStdout()).Encode(changes)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if isDry || !a.isAsked {
		writeEdit(out, changes, coloursFor(cmd.OutOrStdout()))
	}
	fmt.Fprintln(out, a.summary(isDry, changes))
	return changes, out.Flush()
}

// summary says in a line what has become of an edit, and how much it changes.
func (a *applying) summary(isDry bool, c show.Changes) string {
	counts := fmt.Sprintf("%d added, %d removed, %d changed", c.Added, c.Removed, c.Changed)
	switch {
	case !isDry:
		return "applied: " + counts
	case a.isAsked && c.Added+c.Removed+c.Changed > 0:
		return counts // the question follows
	}
	return "not applied: " + counts
}

// writeEdit writes what an edit changes as text.
func writeEdit(w *bufio.Writer, changes show.Changes, c colours) {
	writeChanges(w, changes.Changes, c)
	writeMore(w, changes.Unnamed, changes.HasMore)
	for _, finding := range changes.Findings {
		fmt.Fprintln(w, "Warning:", finding.Text())
	}
}

// ask asks whether to apply an edit; the error is that nobody wants it.
func ask(in io.Reader, w io.Writer, name string) error {
	fmt.Fprintf(w, "Apply this to %s? [y/N] ", name)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return negative{errors.New("nothing is applied")}
}

var lineInAnswer = regexp.MustCompile(`(?m)^\d+:\d+: `)

// placedIn returns the endpoint's error with the file in front of the lines that it names.
func placedIn(path string, err error) error {
	if answered, is := answerOf(err); is {
		answered.reason = lineInAnswer.ReplaceAllStringFunc(answered.reason,
			func(line string) string { return path + ":" + line })
	}
	return err
}
