package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/admin"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/schedule"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// adding is the command line of "caddy shortlink add".
type adding struct {
	online       online
	rule         resolver.Rule
	status       string
	query        string
	since, until time.Time       // zero for no limit
	window       schedule.Window // with both, and without the rule
	// keepsNote says that the rule keeps its present note.
	keepsNote bool
	length    int
	digest    string
	isNew     bool // the key must not have a rule yet
	format    string
	// ruleLine returns a rule as a line of a Caddyfile.
	ruleLine func(resolver.Rule) string
}

func addCommand(configurations Configurations) *cobra.Command {
	a := adding{ruleLine: configurations.RuleLine}
	cmd := &cobra.Command{
		Use: "add [KEY] URL [--status CODE] [--exact] [--unlisted] [--query MODE] " +
			"[--note TEXT] [--since TIME] [--until TIME]",
		Short: "Adds a rule to a running Caddy, or changes it",
		Long: `Adds a rule to the first source of a running Caddy that can be written to, or replaces
the rule of the key, and then shows the old rule on standard error, with the other links
that lead elsewhere now. When the command is done, the rule serves, or was refused with
a reason.

Without a key, one is made from the URL: the shortest that is free, of digits and
lower-case letters without i, l, o and u. The same URL gets the same key again.

A rule keeps its note unless --note gives another one; --note "" removes it.

With --since or --until the rule is there for a time only; before and after, the key has
none. A time is a date, which is midnight UTC, or has a zone: 2027-03-01T18:00:00+01:00.`,
		Example: `  caddy shortlink add docs https://docs.example
  caddy shortlink add https://example.com/a/very/long/path
  caddy shortlink add paper https://example.com/paper.pdf --status 301 --exact
  caddy shortlink add old gone --note "moved in 2026"
  caddy shortlink add fair https://example.com/fair --until 2027-03-01`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error { return a.run(cmd, args) }),
	}
	a.online.addFlags(cmd)
	cmd.Flags().StringVar(&a.status, "status", "",
		"Status of the redirect: "+rulefile.StatusWords+" (default: the handler's)")
	cmd.Flags().BoolVar(&a.rule.Exact, "exact", false, "Match the key's own path and nothing below it")
	cmd.Flags().BoolVar(&a.rule.Unlisted, "unlisted", false, "Keep the rule out of what is advertised")
	cmd.Flags().StringVar(&a.query, "query", "",
		"What becomes of queries: "+rulefile.QueryModes+" (default: the handler's)")
	cmd.Flags().StringVar(&a.rule.Note, "note", "",
		"Why the rule is there, in one line (default: the note that it has)")
	addTimeFlag(cmd, &a.since, "since", "When the rule begins (default: at once)")
	addTimeFlag(cmd, &a.until, "until", "When the rule ends (default: never)")
	cmd.Flags().IntVar(&a.length, "length",
		1, "Minimum length of a key that is made from the URL, at most 16")
	cmd.Flags().BoolVar(&a.isNew, "new", false, "Do not replace a rule: the key must have none")
	addIfMatch(cmd, &a.digest)
	formatFlag(cmd, &a.format, formatJSON)
	return cmd
}

func addIfMatch(cmd *cobra.Command, digest *string) {
	cmd.Flags().StringVar(digest, "if-match", "", "Digest that the rules must still have")
}

func (a *adding) run(cmd *cobra.Command, args []string) error {
	if err := checkFormat(a.format, formatJSON); err != nil {
		return err
	}
	if a.length > longestMade {
		return fmt.Errorf(
			"--length must be at most %d", longestMade)
	}
	if a.status != "" {
		var ok bool
		if a.rule.Status, ok = rulefile.ParseStatus(a.status); !ok {
			return fmt.Errorf("--status %s", rulefile.StatusMisuse(a.status))
		}
	}
	if a.query != "" {
		var ok bool
		if a.rule.Query, ok = rulefile.ParseQueryMode(a.query); !ok {
			return fmt.Errorf("--query takes %s, not %q", rulefile.QueryModes, a.query)
		}
	}
	if !utf8.ValidString(a.rule.Note) {
		return fmt.Errorf("--note takes UTF-8 text, not %q", a.rule.Note)
	}
	a.keepsNote = !cmd.Flags().Changed("note")
	if len(args) == 0 || len(args) > 2 {
		return errors.New("add takes a key and a URL, or a URL alone")
	}
	a.rule.Value = args[len(args)-1]
	if !utf8.ValidString(a.rule.Value) {
		return fmt.Errorf("the destination %q is not UTF-8; write its bytes percent-encoded, "+
			"such as %%9B", a.rule.Value)
	}
	if len(args) == 1 && resolver.IsValue(args[0]) && !resolver.IsDestination(args[0]) {
		return fmt.Errorf("add needs a key before %s: keys are made only for URLs", args[0])
	}
	if len(args) == 2 {
		a.rule.Key = args[0]
	}
	if meant, is := resolver.Exchanged(a.rule); is {
		return fmt.Errorf("key and destination are exchanged; write: caddy shortlink add %s %s",
			meant.Key, meant.Value)
	}
	if len(args) == 2 && a.rule.Key == "" {
		return errors.New("the key is empty; \"/\" itself cannot be a shortlink")
	}
	a.window = schedule.Always(resolver.Rule{})
	if !a.since.IsZero() {
		a.window.Since = schedule.At(a.since)
	}
	if !a.until.IsZero() {
		a.window.Until = schedule.At(a.until)
	}
	if faults := schedule.Check([]schedule.Window{a.window}); faults != nil {
		return errors.New(faults[0].Message)
	}
	r, err := a.online.find()
	if err != nil {
		return err
	}
	return a.add(cmd, r)
}

// While other edits come in between, a rule is added again after random pauses.
const (
	addTime      = 15 * time.Second
	longestPause = 50 * time.Millisecond
)

// add completes the rule and sets it.
func (a *adding) add(cmd *cobra.Command, r *remote) error {
	asked, before := a.rule, ""
	for end := time.Now().Add(addTime); ; time.Sleep(rand.N(longestPause)) {
		a.rule = asked
		digest, there, err := a.lookUp(r)
		if err != nil {
			return err
		}
		if there != nil && a.keepsNote {
			if asked.Key == "" && asked.IsPlain() && a.window.IsAlways() {
				a.rule = *there
				return a.tell(cmd.OutOrStdout(), nil, false)
			}
			a.rule.Note = schedule.Split(*there)[0].Rule.Note
		}
		if asked.Key != "" && digest == before {
			digest = "" // the same rules serve: the source holds others, which the edit may mend
		}
		err = a.put(cmd, r, cmp.Or(a.digest, digest))
		if asked.Key == "" {
			err = withoutKey(err, a.rule.Key)
		}
		mayBeTriedAgain := a.digest == "" && time.Now().Before(end)
		if !mayBeTriedAgain || !hasStatus(err, http.StatusPreconditionFailed) {
			return err
		}
		before = digest
	}
}

// lookUp returns the rule that is there, and the digest of the rules that were looked at. Without a
// key it chooses one. Where nothing depends on what is there, it asks for nothing.
func (a *adding) lookUp(r *remote) (digest string, there *resolver.Rule, err error) {
	switch {
	case a.rule.Key == "":
		return a.chooseKey(r)
	case a.keepsNote && !a.isNew:
		there, digest, err = r.rule(a.rule.Key)
	}
	return digest, there, err
}

// put sets the rule, and prints it.
func (a *adding) put(cmd *cobra.Command, r *remote, digest string) error {
	path, err := r.rulePath(a.rule.Key)
	if err != nil {
		return err
	}
	header := ifMatch(digest)
	if a.format == formatText {
		header.Set(admin.HeaderPrefer, admin.PreferEffects)
	}
	if a.isNew {
		header.Set("If-None-Match", "*")
	}
	w := a.window
	w.Rule = a.rule
	a.rule = schedule.Join(a.rule.Key, a.rule.Position, []schedule.Window{w})
	body := strings.NewReader(rulefile.JSONValue(a.rule))
	response, err := r.do(http.MethodPut, path, header, body)
	if a.isNew && digest == "" && hasStatus(err, http.StatusPreconditionFailed) {
		return negative{fmt.Errorf("there is a rule for the key %q; to replace it, leave --new out",
			a.rule.Key)}
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	was := replaced(response, a.rule.Key)
	if was != nil && a.format == formatText && a.ruleLine(*was) != a.ruleLine(a.rule) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Note: this rule was replaced:", a.ruleLine(*was))
	}
	tellEffects(cmd.ErrOrStderr(), response)
	return a.tell(cmd.OutOrStdout(), was, response.StatusCode == http.StatusCreated)
}

// tellEffects prints what an edit has changed besides its own rule, if Caddy says so.
func tellEffects(w io.Writer, edited *http.Response) {
	var effects admin.Effects
	isTold := edited.Header.Get(admin.HeaderApplied) == admin.PreferEffects
	if !isTold || json.NewDecoder(edited.Body).Decode(&effects) != nil {
		return
	}
	if effects.Others > 0 {
		fmt.Fprintf(w, "Note: this also changes %s:\n", show.OtherLinks(effects.Others, effects.HasMore))
	}
	for _, line := range effects.Lines {
		fmt.Fprintf(w, "  %s: was %s, now %s\n", printable.Text(line.Requests),
			printable.Text(line.Before), printable.Text(line.After))
	}
	writeMore(w, effects.Unnamed, effects.HasMore)
	for _, warning := range effects.Warnings {
		fmt.Fprintln(w, "Warning:", printable.Text(warning))
	}
}

// writeMore writes how many changes are not named, or that there are more than anybody counts.
func writeMore(w io.Writer, unnamed int, hasMore bool) {
	switch {
	case hasMore:
		fmt.Fprintln(w, "  and more")
	case unnamed > 0:
		fmt.Fprintf(w, "  and %d more\n", unnamed)
	}
}

// replaced returns the rule that an edit has replaced, or nil.
func replaced(edited *http.Response, key string) *resolver.Rule {
	value := strings.NewReader(edited.Header.Get(admin.HeaderWas))
	rule, err := rulefile.ReadJSONValue(value, "", key)
	if err != nil {
		return nil
	}
	return &rule
}

func ifMatch(digest string) http.Header {
	header := http.Header{}
	if digest != "" {
		header.Set("If-Match", `"`+strings.Trim(digest, `"`)+`"`)
	}
	return header
}

// tell prints the new rule; was is the one that it replaced, if any.
func (a *adding) tell(w io.Writer, was *resolver.Rule, created bool) error {
	if a.format == formatJSON {
		encoder := printable.NewJSONEncoder(w)
		value := json.RawMessage(rulefile.JSONValue(a.rule))
		answer := map[string]any{"key": a.rule.Key, "value": value, "created": created}
		if was != nil {
			answer["was"] = json.RawMessage(rulefile.JSONValue(*was))
		}
		return encoder.Encode(answer)
	}
	_, err := fmt.Fprintln(w, a.ruleLine(a.rule))
	return err
}

// withoutKey returns the endpoint's error without the key, which the user has not written.
func withoutKey(err error, key string) error {
	if answered, is := answerOf(err); is {
		answered.reason = strings.ReplaceAll(answered.reason, fmt.Sprintf("key %q: ", key), "")
	}
	return err
}

// chooseKey sets the rule's key: the one that the URL already has, whose rule it returns, or else
// the shortest free one. It returns the digest of the rules that it looked at first.
func (a *adding) chooseKey(r *remote) (digest string, there *resolver.Rule, err error) {
	whole := shortKey(a.rule.Value)
	free := ""
	for n := max(1, a.length); n <= longestMade; n++ {
		key := whole[:n]
		rule, seen, err := r.rule(key)
		if err != nil {
			return "", nil, err
		}
		if digest == "" {
			digest = seen // if rules change from now on, the key may be taken
		}
		if rule != nil && a.isLike(*rule) {
			a.rule.Key = key
			return digest, rule, nil
		}
		if rule == nil && free == "" {
			free = key
		}
	}
	if a.rule.Key = free; free == "" {
		return "", nil,
			fmt.Errorf("no key of at most %d characters is free for the URL; write one in front of it",
				longestMade)
	}
	return digest, nil, nil
}

// isLike reports whether a rule can be the one that is asked for: it leads to its URL, and for a
// time only if that is asked for, too.
func (a *adding) isLike(rule resolver.Rule) bool {
	windows := schedule.Split(rule)
	return len(windows) == 1 && spelled(windows[0].Rule.Value) == spelled(a.rule.Value) &&
		(windows[0].IsAlways() || !a.window.IsAlways())
}

// longestMade is the maximum length of a key that is made from a URL.
const longestMade = 16

// crockford are the digits of Crockford's base 32, which leaves out the letters that look or sound
// like others, in lower case.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// shortKey returns all characters of the key for a URL.
func shortKey(url string) string {
	sum := sha256.Sum256([]byte(spelled(url)))
	return base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(sum[:])
}

// spelled returns a URL in the spelling of the URL Standard.
func spelled(url string) string {
	if u, err := weburl.Parse(url); err == nil {
		return u.Href()
	}
	return url
}

// rule returns a key's rule, or nil, and the digest of all rules.
func (r *remote) rule(key string) (found *resolver.Rule, digest string, err error) {
	path, err := r.rulePath(key)
	if err != nil {
		return nil, "", err
	}
	response, err := r.do(http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	canonical := resolver.CanonicalKey(key, true)
	err = rulefile.ReadJSON(response.Body, "", func(rule resolver.Rule) {
		if resolver.CanonicalKey(rule.Key, true) == canonical {
			found = &rule
		}
	})
	return found, strings.Trim(response.Header.Get("ETag"), `"`), err
}

func removeCommand(configurations Configurations) *cobra.Command {
	var o online
	var digest string
	cmd := &cobra.Command{
		Use:   "remove KEY...",
		Short: "Removes rules of a running Caddy",
		Long: `Removes the rules of keys from the source of a running Caddy that edits go to.
When the command is done, all are gone, or one was refused with a reason; the
keys after that one are left alone. Standard error has the old rules, and the other
links that lead elsewhere now.`,
		Example: `  caddy shortlink remove docs
  caddy shortlink remove old-paper older-paper --name papers`,
		RunE: exiting(func(cmd *cobra.Command, keys []string) error {
			if len(keys) == 0 {
				return errors.New("there is no key; write the keys of the rules to remove")
			}
			if digest != "" && len(keys) > 1 {
				return errors.New("--if-match is for one key: the rules have another digest once it is gone")
			}
			r, err := o.find()
			if err != nil {
				return err
			}
			for _, key := range keys {
				removed, err := r.remove(key, digest)
				if err != nil {
					return err
				}
				if was := replaced(removed, key); was != nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "Note: this rule was removed:",
						configurations.RuleLine(*was))
				}
				tellEffects(cmd.ErrOrStderr(), removed)
				removed.Body.Close()
			}
			return nil
		}),
	}
	o.addFlags(cmd)
	addIfMatch(cmd, &digest)
	return cmd
}

// remove removes the rule of a key.
func (r *remote) remove(key, digest string) (*http.Response, error) {
	path, err := r.rulePath(key)
	if err != nil {
		return nil, err
	}
	header := ifMatch(digest)
	header.Set(admin.HeaderPrefer, admin.PreferEffects)
	return r.do(http.MethodDelete, path, header, nil)
}
