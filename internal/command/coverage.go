package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/coverage"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/internal/webroot"
	"github.com/caddy-shortlink/shortlink/source"
)

// covering is the command line of "caddy shortlink coverage".
type covering struct {
	input  input
	hosts  []string
	root   string
	min    uint64
	skip   []string
	probes bool
	format string

	since, until time.Time // zero for no limit
	month        string
}

func coverageCommand(configurations Configurations) *cobra.Command {
	c := covering{input: input{configurations: configurations}}
	cmd := &cobra.Command{
		Use: "coverage [--config FILE] [--rules FILE]... [--host HOST]... [--root DIR] [--min N] " +
			"[--skip PREFIX]... [--probes] [--month MONTH | --since TIME] [--until TIME] " +
			"[--format text|json|csv] FILE...|-",
		Short: "Says which URLs of logs, sitemaps and lists have no answer",
		Long: `Reads URLs, and says whether each is a redirect, gone, a page, an error, or missing.
A missing URL is answered by no rule, is not a file below --root, and has status 404 or
none in the log. Missing URLs are listed by requests, each with up to three keys or
pages that were perhaps meant. No rule is written.

Missing URLs that scanners ask any site for, such as /.env and /wp-login.php, are counted
in one line at the end. --probes lists them.

The content of a file tells its format: Caddy's access log; a log in the common or combined
format; a sitemap; a table with a column of URLs, such as exports of Search Console and
Google Analytics; lines of JSON with url, uri or path; a list of URLs or paths. All of
them can be compressed with gzip or zstd. "-" is standard input.

Queries do not count. In logs, only GET and HEAD requests count. URLs of other hosts are
left out: the site's hosts are those of --host, or else of the configuration's sites.

--since and --until leave out requests before a time, or from that time on: 2026-03-01,
which is midnight in UTC, or 2026-03-01T06:00:00+01:00. --month 2026-03 counts only that
month. A file without dates is an error then.

With --format csv the output is a file of rules for the missing paths, without
destinations; with --format json it is one object.

Exit status: 0 if only probes are missing, 1 if other URLs are, 2 for wrong usage or
if all requests are for other hosts or from other times.`,
		Example: `  caddy shortlink coverage --config Caddyfile /var/log/caddy/access.log*
  caddy shortlink coverage --month 2026-03 access.log
  caddy shortlink coverage --rules links.json --root public old-sitemap.xml
  caddy shortlink coverage --rules links.json --min 10 --format csv access.log > todo.csv`,
		RunE: exiting(func(cmd *cobra.Command, files []string) error { return c.run(cmd, files) }),
	}
	c.input.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&c.hosts, "host", nil, "Host of the site; can be repeated")
	flags.StringVar(&c.root, "root", "", "Directory with the files of the site")
	flags.Uint64Var(&c.min, "min", 0, "Leave out what was requested less often")
	flags.StringArrayVar(&c.skip, "skip", nil,
		"Leave out paths that begin so, such as /assets/; can be repeated")
	flags.BoolVar(&c.probes, "probes", false, "List what scanners ask any site for, too")
	addTimeFlag(cmd, &c.since, "since", "Leave out requests from before this time")
	addTimeFlag(cmd, &c.until, "until", "Leave out requests from this time on")
	flags.StringVar(&c.month, "month", "", "Only requests of this month, such as 2026-03, in UTC")
	formatFlag(cmd, &c.format, formatJSON, formatCSV)
	return cmd
}

func (c *covering) run(cmd *cobra.Command, files []string) error {
	period, err := c.period(cmd)
	if err := errors.Join(c.check(files), err); err != nil {
		return err
	}
	var urls []string
	for _, host := range c.hosts {
		urls = append(urls, "https://"+host+"/")
	}
	h, ruleset, err := c.input.compile(cmd, urls)
	if err != nil {
		return err
	}
	defer h.close()
	root, err := openRoot(cmd, c.root)
	if err := errors.Join(err, checkInputs(files)); err != nil {
		return err
	}
	counts := coverage.NewCounts(
		coverage.Options{IsOurs: c.isOurs(h.ConfigHandler), Skip: c.skip, Period: period})
	if err := c.read(cmd, counts, files); err != nil {
		return err
	}
	if err := checkCounts(counts); err != nil {
		return err
	}
	report, err := c.report(cmd, counts, coverage.Question{Ruleset: ruleset,
		Origin: h.Rules.SiteOrigin(), Root: root, BesideFiles: h.besideFiles(), Min: c.min})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w := coverageWriter{counts: counts, report: report, out: out, notes: cmd.ErrOrStderr(),
		rootNotes: notesOfFiles(root, h.ConfigHandler), fold: h.Rules.Options.FoldCase, probes: c.probes,
		progress: newProgress(cmd.ErrOrStderr(), "suggesting")}
	defer w.progress.end()
	if err := errors.Join(w.write(c.format, coloursFor(cmd.OutOrStdout())), out.Flush()); err != nil {
		return err
	}
	if report.Totals[coverage.Missing].URLs > 0 {
		return errNegative
	}
	return nil
}

// check checks the command line.
func (c *covering) check(files []string) error {
	errs := []error{checkFormat(c.format, formatJSON, formatCSV), checkHosts(c.hosts)}
	for _, prefix := range c.skip {
		if !strings.HasPrefix(prefix, "/") {
			errs = append(errs, fmt.Errorf("--skip takes the beginning of a path, such as /assets/; "+
				"not %q", prefix))
		}
	}
	stdin := func(file string) bool { return file == source.StandardInput }
	switch i := slices.IndexFunc(files, stdin); {
	case len(files) == 0:
		errs = append(errs, errors.New("no file given; write logs, sitemaps or lists, or - to "+
			"read one from standard input"))
	case i >= 0 && (c.input.readsStdin() || slices.ContainsFunc(files[i+1:], stdin)):
		errs = append(errs, errStdinTwice)
	}
	return errors.Join(errs...)
}

// period returns the period of requests that count.
func (c *covering) period(cmd *cobra.Command) (coverage.Period, error) {
	p := coverage.Period{Since: c.since, Until: c.until}
	if !cmd.Flags().Changed("month") {
		if !p.Until.IsZero() && !p.Since.Before(p.Until) {
			return p, fmt.Errorf("--until has to be after --since: nothing is between %s and %s",
				p.Since.Format(time.RFC3339), p.Until.Format(time.RFC3339))
		}
		return p, nil
	}
	begin, err := time.Parse("2006-01", c.month)
	if err != nil {
		return p, fmt.Errorf("--month takes a month, such as 2026-03, not %q", c.month)
	}
	if p != (coverage.Period{}) {
		return p, errors.New("--month is a period of its own; leave out --since and --until")
	}
	return coverage.Period{Since: begin, Until: begin.AddDate(0, 1, 0)}, nil
}

// checkCounts returns an error if all requests were left out: then nothing is known.
func checkCounts(counts *coverage.Counts) error {
	left := counts.LeftOut
	switch {
	case counts.Len() > 0:
		return nil
	case left.Hosts > 0:
		return fmt.Errorf("nothing is counted: all requests are for other hosts (%d); "+
			"name their host with --host", left.Hosts)
	case left.Times > 0:
		first, last := counts.OtherTimes()
		return fmt.Errorf("nothing is counted: all requests are from other times (%d), from %s to %s; "+
			"write another --since, --until or --month", left.Times, first.Format(time.RFC3339),
			last.Format(time.RFC3339))
	}
	return nil
}

// checkInputs checks that all files exist, before the first one is read.
func checkInputs(files []string) error {
	var errs []error
	for _, path := range files {
		if path != source.StandardInput {
			_, err := os.Stat(path)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// notesOfFiles names directories of a root, which may be nil, that could not be read.
func notesOfFiles(root *webroot.Root, h *ConfigHandler) (notes []string) {
	if root == nil && h.besideFiles() != nil {
		return []string{"files of the site come before the rules (not file), and count as what their " +
			"paths' rules say; name their directory with --root"}
	}
	if root != nil {
		for _, unread := range root.Unread() {
			notes = append(notes, fmt.Sprintf("--root: %v", unread))
		}
	}
	return notes
}

// isOurs returns a test for hosts of the site, or nil for any host.
func (c *covering) isOurs(h *ConfigHandler) func(host string) bool {
	addresses := c.hosts
	if len(addresses) == 0 {
		addresses = h.Addresses
	}
	site := &ConfigHandler{}
	for _, address := range addresses {
		site.Addresses = append(site.Addresses, coverage.HostOf(address))
	}
	if len(addresses) == 0 || slices.Contains(site.Addresses, "") {
		return nil
	}
	return site.isAt
}

// read counts the requests of all files.
func (c *covering) read(cmd *cobra.Command, counts *coverage.Counts, files []string) error {
	progress := newProgress(cmd.ErrOrStderr(), "reading")
	defer progress.end()
	counts.Step = func(lines int) { progress.showRate("lines", lines) }
	progress.setTotal(sizeOfAll(files))
	all := &steppingBytes{progress: progress}
	for _, path := range files {
		if err := all.count(cmd.InOrStdin(), counts, path); err != nil {
			return err
		}
	}
	return nil
}

// sizeOfAll returns the size of all files, or 0 if one has no known size.
func sizeOfAll(files []string) (size int64) {
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		size += info.Size()
	}
	return size
}

// steppingBytes shows progress while files are read, one after the other.
type steppingBytes struct {
	io.Reader
	progress *progress
	done     int64
}

// count counts the requests of a file.
func (s *steppingBytes) count(stdin io.Reader, counts *coverage.Counts, path string) error {
	if s.Reader = stdin; path == source.StandardInput {
		return counts.Read("standard input", s)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	s.Reader = file
	return counts.Read(printable.Text(path), s)
}

// Read reads, and shows progress.
func (s *steppingBytes) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.done += int64(n)
	s.progress.advanceTo(s.done)
	return n, err
}

// report resolves the URLs.
func (c *covering) report(
	cmd *cobra.Command, counts *coverage.Counts, q coverage.Question,
) (*coverage.Report, error) {
	progress := newProgress(cmd.ErrOrStderr(), "resolving")
	defer progress.end()
	progress.setTotal(int64(counts.Len()))
	q.Step = func(done int) { progress.advanceTo(int64(done)) }
	return counts.Report(q)
}
