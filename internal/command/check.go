package command

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/show"
	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
	"github.com/caddy-shortlink/shortlink/weburl"
)

// checking is the command line of "caddy shortlink check".
type checking struct {
	input  input
	hosts  []string
	root   string // the directory of the site's files, or empty
	strict bool
	format string
}

func checkCommand(configurations Configurations) *cobra.Command {
	c := checking{input: input{configurations: configurations}}
	cmd := &cobra.Command{
		Use: "check [--config FILE] [--rules FILE]... [--host HOST]... [--root DIR] " +
			"[--at TIME] [--strict] [--format text|json]",
		Short: "Checks rules: errors, warnings and notes",
		Long: `Checks the rules of all handlers of a configuration, or of files. Errors are what
keeps rules from serving, and loops, circles between clients and rules, and failed
expectations. Warnings are what authors may not expect. Notes say what could be better.

--host names a host of the site, so that destinations on it are followed, too. The hosts
of a configuration's site count if all its requests reach the handler unchanged.

--at checks the rules of another time. Windows of rules that begin or end later are
looked at beforehand: what fails then is a warning. Rules that are over and those that
have not begun are notes.

--root names the directory of the site's files. Rules that hide files are reported, and
destinations on the site that are neither a file nor answered by a rule. /a exists if a,
a.html, a/index.html or a/index.txt does. Rules with variables are left out.

With --format json the output is one object: handlers, each with name, rules, the
numbers of errors, warnings and notes, and findings: severity, kind, position,
key, message, and, where they fit, cycle, destination and urls.

Exit status: 0 if all is well, 1 if there are errors, or with --strict warnings,
2 for wrong usage.`,
		Example: `  caddy shortlink check --config Caddyfile.example
  caddy shortlink check --rules links.json --host go.example --strict
  caddy shortlink check --rules links.json --host go.example --root /srv/www
  caddy shortlink check --config Caddyfile --format json`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) }),
	}
	c.input.addFlags(cmd)
	addAtFlag(cmd, &c.input.at)
	cmd.Flags().StringArrayVar(&c.hosts, "host", nil,
		"Host of the site, with its port if it has one; can be repeated")
	cmd.Flags().StringVar(&c.root, "root", "", "Directory of the site's files, to compare with")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "Exit with status 1 if there are warnings, too")
	formatFlag(cmd, &c.format, formatJSON)
	return cmd
}

func (c *checking) run(cmd *cobra.Command, args []string) error {
	if err := errors.Join(checkFormat(c.format, formatJSON), checkHosts(c.hosts)); err != nil {
		return err
	}
	if len(args) > 0 {
		return fmt.Errorf("check takes no arguments; for a file of rules write --rules %s", args[0])
	}
	reports, err := c.check(cmd)
	if err != nil {
		return err
	}
	if err := c.write(cmd.OutOrStdout(), reports); err != nil {
		return err
	}
	for _, report := range reports {
		if report.Errors > 0 || c.strict && report.Warnings > 0 {
			return errNegative
		}
	}
	return nil
}

func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if u, err := weburl.Parse("https://" + host); err != nil || u.Path != "/" || u.Username != "" ||
			strings.ContainsAny(host, "?#/@") {
			return fmt.Errorf("--host takes a host, with its port if it has one, such as go.example; not %q",
				host)
		}
	}
	return nil
}

// check checks all selected handlers.
func (c *checking) check(cmd *cobra.Command) ([]*checkReport, error) {
	handlers, closeAll, err := c.input.open(cmd.InOrStdin())
	if bad, is := errors.AsType[BadConfiguration](err); is {
		path := cmp.Or(c.input.config, defaultConfig)
		report := newCheckReport(path)
		report.addErrors(c.input.configurations.InDirectives(bad.Err, path), "configuration")
		for i, f := range report.Findings { // Caddy's own messages have the file
			report.Findings[i].Message = strings.ReplaceAll(f.Message, path, printable.Text(path))
		}
		report.sort()
		return []*checkReport{report}, nil
	}
	if err != nil {
		return nil, err
	}
	defer closeAll()
	root, err := openRoot(cmd, c.root)
	if err != nil {
		return nil, err
	}
	progress := newProgress(cmd.ErrOrStderr(), "reading rules")
	defer progress.end()
	var reports []*checkReport
	for _, h := range handlers {
		reports = append(reports, c.checkHandler(h, root, progress))
	}
	return reports, nil
}

func (c *checking) checkHandler(
	h *ConfigHandler, root *webroot.Root, progress *progress,
) *checkReport {
	report := newCheckReport(h.Name)
	if h.Shares {
		report.label = h.label()
	}
	progress.startPhase("reading rules")
	ruleset, warnings, err := h.Rules.CompileRules(h.Rules.Context, progress.read)
	if err != nil {
		report.addErrors(err, "source")
		report.sort()
		return report
	}
	report.Rules = ruleset.Len()
	progress.startPhase("checking")
	report.addCopies(h.Rules.Sources)
	report.addErrors(h.Rules.CheckExpectations(ruleset), "failed expectation")
	for _, f := range h.Rules.WindowFindings() {
		report.addFinding(f)
	}
	hosts := slices.Concat(c.hosts, h.Origins)
	lint.Check(ruleset, warnings, hosts, report.addFinding)
	if root != nil {
		progress.startPhase("comparing with files")
		report.checkRoot(ruleset, h.Rules.Options, root, c.root, hosts)
	}
	told := report.addHostKeys(ruleset, h, c.hosts)
	report.addNeverReached(ruleset, h.Ways, told)
	for _, w := range h.Rules.ConfigurationWarnings(ruleset) {
		if w.Key == "" && len(h.Lines) > 0 {
			w.Position = h.Lines[0] // it concerns the handler
		}
		report.addFinding(lint.Finding{Warning: w, Severity: lint.SeverityWarning})
	}
	for _, path := range h.Pages {
		for _, w := range live.PageWarnings(ruleset, path) {
			report.addFinding(lint.Finding{Warning: w, Severity: lint.SeverityWarning})
		}
	}
	report.sort()
	return report
}

// checkReport is the result of checking a handler's rules.
type checkReport struct {
	Name     string         `json:"name"`
	Rules    int            `json:"rules"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Notes    int            `json:"notes"`
	Findings []show.Finding `json:"findings"`

	label string // the name that people see
}

func newCheckReport(name string) *checkReport {
	return &checkReport{Name: name, Findings: []show.Finding{}, label: name}
}

func (r *checkReport) addFinding(f lint.Finding) {
	switch f.Severity {
	case lint.SeverityError:
		r.Errors++
	case lint.SeverityWarning:
		r.Warnings++
	default:
		r.Notes++
	}
	r.Findings = append(r.Findings, show.FindingOf(f))
}

// warn adds a warning about a rule.
func (r *checkReport) warn(kind lint.Kind, rule resolver.Rule, message string) {
	f := lint.Finding{Severity: lint.SeverityWarning}
	f.Kind, f.Position, f.Key, f.Message = kind, rule.Position, rule.Key, message
	r.addFinding(f)
}

// addErrors adds the parts of an error; kind is for those that have none.
func (r *checkReport) addErrors(err error, kind lint.Kind) {
	for _, err := range PartsOf(err) {
		f := lint.Finding{Severity: lint.SeverityError}
		f.Kind, f.Message = kind, err.Error()
		if inRule, ok := err.(*resolver.RuleError); ok {
			f.Kind, f.Position, f.Key, f.Message = lint.Kind(inRule.Kind.Error()),
				inRule.Position, inRule.Key, inRule.Message
		}
		if inFile, ok := err.(*rulefile.Error); ok {
			f.Kind, f.Position, f.Message = "unreadable", inFile.Position, inFile.Message
		}
		if p, ok := err.(source.Problem); ok {
			f.Kind, f.Position, f.Key, f.Message = cmp.Or(p.Kind, kind), p.At, p.Key, p.Message
		}
		r.addFinding(f)
	}
}

// addCopies adds warnings about sources whose stored copies were checked.
func (r *checkReport) addCopies(sources []source.Source) {
	for _, from := range sources {
		if note := source.NoteOfCopy(from); note != "" {
			f := lint.Finding{Severity: lint.SeverityWarning}
			f.Kind, f.Position.Source, f.Message = "stored copy", from.String(), note
			r.addFinding(f)
		}
	}
}

// PartsOf returns the errors that an error joins.
func PartsOf(err error) []error {
	if err == nil {
		return nil
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		joined, ok := inner.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		var parts []error
		for _, part := range joined.Unwrap() {
			parts = append(parts, PartsOf(part)...)
		}
		return parts
	}
	return []error{err}
}

// sort sorts findings by severity, kind and position.
func (r *checkReport) sort() {
	order := []lint.Severity{lint.SeverityError, lint.SeverityWarning,
		lint.SeverityNote}
	slices.SortStableFunc(r.Findings, func(a, b show.Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.At.Source, b.At.Source), cmp.Compare(a.At.Line, b.At.Line),
			cmp.Compare(a.At.Column, b.At.Column),
			cmp.Compare(a.Key, b.Key),
		)
	})
}

func (c *checking) write(w io.Writer, reports []*checkReport) error {
	out := bufio.NewWriter(w)
	if c.format == formatJSON {
		encoder := printable.NewJSONEncoder(out)
		encoder.SetIndent("", "\t")
		if err := encoder.Encode(map[string]any{"handlers": reports}); err != nil {
			return err
		}
		return out.Flush()
	}
	for _, report := range reports {
		report.write(out, coloursFor(w))
	}
	return out.Flush()
}

// shownFindings is how many findings of a kind the text shows.
const shownFindings = 20

// write writes the report as text, kind by kind.
func (r *checkReport) write(w *bufio.Writer, c colours) {
	colour := map[lint.Severity]int{lint.SeverityError: red, lint.SeverityWarning: yellow,
		lint.SeverityNote: bold}
	for from := 0; from < len(r.Findings); {
		first := r.Findings[from]
		to := from
		for to < len(r.Findings) && r.Findings[to].Severity == first.Severity &&
			r.Findings[to].Kind == first.Kind {
			to++
		}
		title := fmt.Sprintf("%s: %s (%d)", first.Severity, first.Kind, to-from)
		c.heading(w, colour[first.Severity], title)
		for _, f := range r.Findings[from:min(to, from+shownFindings)] {
			fmt.Fprintln(w, "  "+f.Text())
		}
		if more := to - from - shownFindings; more > 0 {
			fmt.Fprintf(w, "  and %d more; --format json has them all\n", more)
		}
		from = to
	}
	fmt.Fprintf(w, "%s: %s, %s, %s, %s\n", printable.Text(r.label), printable.Count(r.Rules, "rule"),
		printable.Count(r.Errors, "error"), printable.Count(r.Warnings, "warning"),
		printable.Count(r.Notes, "note"))
}
