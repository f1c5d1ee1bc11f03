package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/migrate"
	"github.com/caddy-shortlink/shortlink/internal/migrate/formats"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// converting is the command line of "caddy shortlink convert".
type converting struct {
	from, to  string
	output    string // the path of a file, or [standardOutput]
	redirects source.RedirectsOptions
	// Defaults for what the file does not say.
	status, query string
	exact         bool
	isExactGiven  bool
	columns       map[string]string // names of a CSV table's columns, by ours
	keys          string            // a [migrate.KeyKind]
	all           bool              // report each line also at a terminal
	caddyfile     string            // where to write what is no rule, or ""
	loosely       bool
	base          string
}

// skipped is how unsupported lines are read: the output never has them, and each is reported with
// what becomes of its requests.
const skipped = "skip"

func convertCommand() *cobra.Command {
	var c converting
	cmd := &cobra.Command{
		Use:   "convert [--from FORMAT] --to FORMAT [-o FILE] [FILE]",
		Short: "Writes rules in another format, and reports what the format cannot express",
		Long: `Reads rules from a file, or from standard input, and writes them in another format
to standard output: json, csv, redirects for the _redirects of Netlify and Cloudflare
Pages, or map for a path and its destination on each line. --from is not needed if the
file's name or content tells the format. --status, --exact and --query apply to rules for which the
file says nothing. Rules of other programs are exact, unless the program also matches
below a path, or --exact=false is given.

--caddyfile writes a Caddyfile with the redirects that no rule can express, but Caddy's
redir: of "/", of other hosts, and of paths with a query.

Nothing is written if no line could be converted. Use -o for a file that Caddy follows:
it is replaced as a whole, and never by a table without rules.

A report on standard error lists each line whose meaning changes (approximated), that is
left out (refused), or that no request reaches (dropped); a rule of JSON or CSV counts as
a line. At a terminal, lines with the same reason are one message, unless --all is given.
The output can always be loaded: rules that could not be are refused. Comments
are not kept. In _redirects a line without a status means 301, or with --dialect
cloudflare 302.

Exit status: 0 if all lines mean the same, 1 if some do not or are refused, 2 for
wrong usage and for files that cannot be opened.`,
		Example: `  caddy shortlink convert --to json _redirects > links.json
  caddy shortlink convert --to json -o links.json _redirects
  caddy shortlink convert --dialect cloudflare --line-host www.example.com --to csv _redirects
  caddy shortlink convert --from csv --to json < links.txt > links.json`,
		RunE: exiting(func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) }),
	}
	cmd.Flags().StringVar(&c.from, "from", "", "Format of what is read: "+
		listOf(formats.Names())+" (default: what the file's name or content tells)")
	cmd.Flags().StringVar(&c.to, "to", "", "Format of what is written: "+listOf(migrate.ToFormats()))
	cmd.Flags().StringVarP(&c.output, "output", "o", standardOutput,
		"File to write, at once and as a whole; - for standard output")
	_ = cmd.RegisterFlagCompletionFunc("from", completeFormats(formats.Names()))
	_ = cmd.RegisterFlagCompletionFunc("to", completeFormats(migrate.ToFormats()))
	cmd.Flags().BoolVar(&c.all, "all", false,
		"Report each line also at a terminal, which else gets one message for each reason")
	cmd.Flags().StringVar(&c.caddyfile, "caddyfile", "",
		"File to write a Caddyfile to, of redirects that no rule can express")
	c.addDefaultFlags(cmd)
	addRedirectsFlags(cmd, &c.redirects, skipped)
	return cmd
}

// addDefaultFlags adds the flags for what the file does not say.
func (c *converting) addDefaultFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.status, "status", "",
		"Status of rules without one: "+rulefile.StatusWords)
	cmd.Flags().BoolVar(&c.exact, "exact", false,
		"Rules match only their path, or with =false also below it, if the file does not say")
	cmd.Flags().StringVar(&c.query, "query", "",
		"Query mode of rules without one: "+rulefile.QueryModes)
	cmd.Flags().StringToStringVar(&c.columns, "columns", nil,
		"Columns of a CSV table, such as key=Slashtag,to=Destination,status=Code")
	cmd.Flags().StringVar(&c.keys, "keys", "",
		"What keys of lists are: literal or regexp (default: an expression if it looks like one)")
	_ = cmd.RegisterFlagCompletionFunc("keys", cobra.FixedCompletions(
		migrate.KeyKinds(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&c.loosely, "loosely", false,
		"Take expressions for some characters of a segment, such as [0-9]+, for those of any")
	cmd.Flags().StringVar(&c.base, "base", "", "Path of the directory of a .htaccess (default: /)")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions([]cobra.Completion{
		"301", "302", "303", "307", "308"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("query", cobra.FixedCompletions(
		resolver.QueryModeNames(), cobra.ShellCompDirectiveNoFileComp))
}

func (c *converting) run(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errors.New("convert takes one file at most")
	}
	path := source.StandardInput
	if len(args) == 1 {
		path = args[0]
	}
	to, err := c.outputFormat()
	if err != nil {
		return err
	}
	r, closeInput, err := openInput(cmd.InOrStdin(), path)
	if err != nil {
		return err
	}
	defer closeInput()
	r, from, guess, err := c.formatOf(path, r)
	if err != nil {
		return err
	}
	c.isExactGiven = cmd.Flags().Changed("exact")
	how, err := c.reading(from)
	if err != nil {
		return err
	}
	progress := newProgress(cmd.ErrOrStderr(), "converting")
	progress.setTotal(sizeOf(r))
	done, err := c.write(cmd, to, func(w io.Writer) (migrate.Conversion, error) {
		defer progress.end()
		return migrate.Convert(w, to, migrate.Input{
			Reader: &steppingReader{Reader: r, progress: progress}, Source: printable.Text(path),
			Reading: how, Columns: c.columns, Keys: migrate.KeyKind(c.keys),
			Loosely: c.loosely, Base: c.directory(),
		}, from)
	})
	if _, is := errors.AsType[negative](err); err != nil && !is {
		return err
	}
	done.Remarks = slices.Concat(guess, done.Remarks)
	if c.caddyfile != "" {
		remark, inFile := c.writeCaddyfile(cmd.Context(), path, done.Elsewhere)
		if inFile != nil {
			return inFile
		}
		done.Remarks = append(done.Remarks, remark)
	}
	if err == nil && differs(done) {
		err = errNegative
	}
	return errors.Join(c.report(cmd.ErrOrStderr(), done), err)
}

// outputFormat returns the format to write.
func (c *converting) outputFormat() (to rulefile.Format, err error) {
	if c.to == "" {
		err = fmt.Errorf("write --to with a format: %s", listOf(migrate.ToFormats()))
	} else {
		to, err = migrate.ParseTo(c.to)
	}
	if c.output == "" {
		err = errors.Join(err, errors.New("--output takes the path of a file; it is empty"))
	}
	return to, err
}

// openInput opens a file, or standard input, which closeInput leaves open.
func openInput(stdin io.Reader, path string) (r io.Reader, closeInput func(), err error) {
	if path == source.StandardInput {
		return stdin, func() {}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, func() { file.Close() }, nil
}

// reading returns how a file in a format is read.
func (c *converting) reading(from migrate.Format) (how rulefile.Reading, err error) {
	if err := c.checkFlags(from); err != nil {
		return how, err
	}
	c.redirects.Unsupported = cmp.Or(c.redirects.Unsupported, skipped)
	if how, err = c.redirects.Reading(); err != nil {
		return how, err
	}
	var ok bool
	if c.status != "" {
		if how.Status, ok = rulefile.ParseStatus(c.status); !ok {
			err = fmt.Errorf("--status is %s, not %q", rulefile.StatusWords, c.status)
		}
	}
	if c.query != "" {
		if how.Query, ok = rulefile.ParseQueryMode(c.query); !ok {
			err = errors.Join(err, fmt.Errorf("--query is %s, not %q", rulefile.QueryModes, c.query))
		}
	}
	if c.isExactGiven {
		how.Exact = &c.exact
	}
	return how, err
}

// checkFlags returns an error for flags that do not apply to a format.
func (c *converting) checkFlags(from migrate.Format) error {
	redirects := c.redirects
	if from.HasHosts {
		redirects.Hosts = nil
	}
	if flag := redirectsFlag(&redirects); flag == "--line-host" {
		return fmt.Errorf("--line-host is for formats with hosts, and %s has none; leave it out",
			from.Name)
	} else if flag != "" && from.Name != rulefile.Redirects {
		return fmt.Errorf("%s is for --from redirects, and %s is read; leave it out", flag, from.Name)
	}
	if len(c.columns) > 0 {
		if err := c.checkColumns(from); err != nil {
			return err
		}
	}
	switch {
	case c.keys != "" && !from.HasKeys:
		return fmt.Errorf("--keys is for --from yaml and array, and %s is read; leave it out", from.Name)
	case c.keys != "" && !slices.Contains(migrate.KeyKinds(), c.keys):
		return fmt.Errorf("--keys is literal or regexp, not %q", c.keys)
	case c.loosely && !from.HasExpressions:
		return fmt.Errorf("--loosely is for formats with regular expressions, and %s has none; leave it "+
			"out", from.Name)
	case c.base != "" && from.Name != "htaccess":
		return fmt.Errorf("--base is for --from htaccess, and %s is read; leave it out", from.Name)
	case c.base != "" && !strings.HasPrefix(c.base, "/"):
		return fmt.Errorf("--base is a path that begins with \"/\", not %q", c.base)
	case from.SaysStatus && c.status != "":
		return fmt.Errorf("--status is for rules without a status, and %s sets one for each line; "+
			"leave it out", from.Name)
	case from.SaysExact && c.isExactGiven:
		return fmt.Errorf("--exact is for rules that do not say what they take, and each line of %s "+
			"does; leave it out", from.Name)
	}
	return nil
}

// directory returns the path of the directory of a .htaccess, with a slash at its end.
func (c *converting) directory() string {
	if c.base == "" {
		return ""
	}
	return strings.TrimSuffix(c.base, "/") + "/"
}

// checkColumns returns an error for columns that tables do not have.
func (c *converting) checkColumns(from migrate.Format) error {
	if from.Name != rulefile.CSV {
		return fmt.Errorf("--columns is for --from csv, and %s is read; leave it out", from.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.columns)) {
		if own, ok := rulefile.ColumnName(name); !ok || own == "" {
			return fmt.Errorf("--columns has no %q; write key, to, status, exact, unlisted, query or note "+
				"in front of \"=\"", name)
		}
	}
	return nil
}

// formatOf returns the input format, and the input from its beginning on. A format that the content
// tells is a remark, guess.
func (c *converting) formatOf(path string, r io.Reader) (
	whole io.Reader, format migrate.Format, guess []string, err error,
) {
	if c.from != "" {
		format, err = formats.Parse(c.from)
		return r, format, nil, err
	}
	begin := make([]byte, formats.ContentSize)
	n, err := io.ReadFull(r, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return r, format, nil, err
	}
	whole = io.MultiReader(bytes.NewReader(begin[:n]), r)
	if file, ok := r.(*os.File); ok { // of which the size is known
		if _, err := file.Seek(0, io.SeekStart); err == nil {
			whole = r
		}
	}
	format, isGuess, err := formats.Find(path, begin[:n])
	if isGuess {
		guess = append(guess, fmt.Sprintf("the content is that of the format %s; --from sets another",
			format.Name))
	}
	return whole, format, guess, err
}

// listOf lists formats, with commas between them.
func listOf(formats []rulefile.Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// steppingReader shows progress while it is read.
type steppingReader struct {
	io.Reader
	progress *progress
	done     int64 // bytes
	lines    int
}

// Read reads, and shows progress.
func (s *steppingReader) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.done += int64(n)
	s.lines += bytes.Count(p[:n], []byte("\n"))
	s.progress.showCount("lines", s.lines)
	s.progress.advanceTo(s.done)
	return n, err
}

// Seek seeks in a file.
func (s *steppingReader) Seek(offset int64, whence int) (done int64, err error) {
	file, ok := s.Reader.(io.Seeker)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	s.done, err = file.Seek(offset, whence)
	s.lines = 0
	return s.done, err
}

// sizeOf returns the size of a file, or 0 for a pipe.
func sizeOf(r io.Reader) int64 {
	file, ok := r.(*os.File)
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
