package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// reading says how a command reads files of rules.
type reading struct {
	format    string // for files whose names do not tell it
	redirects source.RedirectsOptions
}

// addFlags adds the flags that say how files of rules are read.
func (r *reading) addFlags(cmd *cobra.Command) {
	const flag = "rules-format"
	cmd.Flags().StringVar(&r.format, flag, "", "Format of standard input, and of files whose names "+
		"do not tell it: json, csv or redirects (default: json)")
	_ = cmd.RegisterFlagCompletionFunc(flag, completeFormats(
		[]rulefile.Format{rulefile.JSON, rulefile.CSV, rulefile.Redirects}))
	addRedirectsFlags(cmd, &r.redirects, "error")
}

// addRedirectsFlags adds the flags for reading _redirects files. The command sets the default for
// unsupported lines.
func addRedirectsFlags(cmd *cobra.Command, o *source.RedirectsOptions, unsupported string) {
	cmd.Flags().StringVar(&o.Dialect, "dialect", "",
		"Service whose rules _redirects files follow: netlify or cloudflare (default: netlify)")
	cmd.Flags().StringVar(&o.Unsupported, "unsupported", "",
		"What becomes of lines of _redirects files that have no equivalent: error, or skip, which "+
			"leaves them out with a warning (default: "+unsupported+")")
	cmd.Flags().StringArrayVar(&o.Hosts, "line-host", nil,
		"Host of the site, for lines of _redirects files that begin with one; can be repeated")
	for flag, words := range map[string][]cobra.Completion{
		"dialect": {"netlify", "cloudflare"}, "unsupported": {"error", "skip"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = cmd.RegisterFlagCompletionFunc("line-host", cobra.NoFileCompletions)
}

// completeFormats completes the name of a format.
func completeFormats(formats []rulefile.Format) cobra.CompletionFunc {
	words := make([]cobra.Completion, len(formats))
	for i, format := range formats {
		words[i] = cobra.Completion(format)
	}
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// formatOf returns the format of a file of rules, and whether its name tells it.
func (r *reading) formatOf(path string) (format rulefile.Format, told bool) {
	if format, told = rulefile.FormatOf(path); told {
		return format, true
	}
	return rulefile.Format(r.format), false
}

// forFiles returns how these files of rules are read.
func (r *reading) forFiles(paths []string) (rulefile.Reading, error) {
	if err := r.checkFormat(paths); err != nil {
		return rulefile.Reading{}, err
	}
	isRedirects := func(path string) bool {
		format, _ := r.formatOf(path)
		return format == rulefile.Redirects
	}
	if flag := redirectsFlag(&r.redirects); flag != "" && !slices.ContainsFunc(paths, isRedirects) {
		return rulefile.Reading{}, fmt.Errorf("%s is for _redirects files of --rules, and there is "+
			"none; leave it out", flag)
	}
	return r.redirects.Reading()
}

// forFile returns how one of several files is read.
func (r *reading) forFile(path string) (one reading) {
	format, told := r.formatOf(path)
	if !told {
		one.format = r.format
	}
	if format == rulefile.Redirects {
		one.redirects = r.redirects
	}
	return one
}

// checkFormat checks the format for files whose names do not tell it.
func (r *reading) checkFormat(paths []string) error {
	if r.format == "" {
		return nil
	}
	if _, err := rulefile.ParseFormat(r.format); err != nil {
		return fmt.Errorf("--rules-format: %w", err)
	}
	isUntold := func(path string) bool { _, told := r.formatOf(path); return !told }
	if !slices.ContainsFunc(paths, isUntold) {
		return errors.New("--rules-format is for standard input and for files of --rules whose " +
			"names do not tell their format, and there is none; leave it out")
	}
	return nil
}

// redirectsFlag returns a given flag for reading _redirects files, or "".
func redirectsFlag(o *source.RedirectsOptions) string {
	switch {
	case o.Dialect != "":
		return "--dialect"
	case o.Unsupported != "":
		return "--unsupported"
	case len(o.Hosts) > 0:
		return "--line-host"
	}
	return ""
}
