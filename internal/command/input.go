package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-shortlink/shortlink/internal/live"
	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
	"github.com/caddy-shortlink/shortlink/source"
)

// input says where a command reads its rules: a configuration of Caddy, or files.
type input struct {
	configurations Configurations

	config, adapter, name string
	rules                 []string
	reading               reading
	at                    time.Time // for which rules are compiled; zero for now
}

// addFlags adds the flags that choose the input.
func (in *input) addFlags(cmd *cobra.Command) {
	in.addConfigFlags(cmd)
	cmd.Flags().StringArrayVar(&in.rules, "rules", nil,
		"File of rules, instead of a configuration; can be repeated, - is standard input")
	in.reading.addFlags(cmd)
}

func (in *input) addConfigFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&in.config, "config", "c",
		"", "Caddy's configuration file (default: Caddyfile)")
	cmd.Flags().StringVarP(&in.adapter, "adapter", "a", "", "Name of the configuration's adapter")
	cmd.Flags().StringVar(&in.name, "name",
		"", "Name of the handler, where the configuration has several")
}

// addAtFlag adds the flag that says for which time rules are compiled.
func addAtFlag(cmd *cobra.Command, at *time.Time) {
	addTimeFlag(cmd, at, "at", "Time for which rules that begin or end are looked at (default: now)")
}

// addTimeFlag adds a flag that takes a date or a time with a zone.
func addTimeFlag(cmd *cobra.Command, at *time.Time, name, usage string) {
	cmd.Flags().TimeVar(at, name, time.Time{}, []string{time.DateOnly, time.RFC3339}, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
}

// offline is a handler whose rules are read and compiled but not served.
type offline struct {
	*ConfigHandler
	close func()
}

// openOne opens the selected handler. If the configuration has several, it is the one whose site
// has the hosts of urls.
func (in *input) openOne(stdin io.Reader, urls []string) (*offline, error) {
	handlers, closeAll, err := in.open(stdin)
	if err != nil {
		return nil, err
	}
	meant := handlers.thatServe(urls)
	if len(meant) > 1 {
		closeAll()
		return nil, fmt.Errorf("the configuration has %d shortlink handlers; "+
			"write --name with one of: %s", len(handlers), meant.list())
	}
	return &offline{meant[0], closeAll}, nil
}

// compile reads and compiles the rules of the selected handler, and shows its progress on standard
// error. If there are several, urls select one.
func (in *input) compile(
	cmd *cobra.Command, urls []string,
) (h *offline, ruleset *resolver.Ruleset, err error) {
	if h, err = in.openOne(cmd.InOrStdin(), urls); err != nil {
		return nil, nil, err
	}
	progress := newProgress(cmd.ErrOrStderr(), "reading rules")
	ruleset, _, err = h.Rules.CompileRules(h.Rules.Context, progress.read)
	progress.end()
	if err != nil {
		h.close()
		return nil, nil, printable.Shorten(err)
	}
	for _, from := range h.Rules.Sources {
		if note := source.NoteOfCopy(from); note != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "Note: source %s: %s\n", from, note)
		}
	}
	return h, ruleset, nil
}

// open returns all selected handlers, at least one, whose options are valid and whose sources can
// be read.
func (in *input) open(
	stdin io.Reader,
) (handlers Handlers, closeAll func(), err error) {
	how, err := in.reading.forFiles(in.rules)
	if err != nil {
		return nil, nil, err
	}
	if len(in.rules) > 0 {
		if err := in.checkRules(); err != nil {
			return nil, nil, err
		}
		rules := in.rulesOfFiles(stdin, how)
		return Handlers{{Rules: rules, Name: rules.PublicName()}}, func() {}, nil
	}
	if err := beQuiet(); err != nil {
		return nil, nil, err
	}
	config, path, err := in.loadConfig()
	if err != nil {
		return nil, nil, err
	}
	ctx, closeAll, err := quietContext(config)
	if err != nil {
		return nil, nil, err
	}
	handlers, err = in.configurations.Find(ctx, config, path, in.name)
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	for _, h := range handlers {
		h.Rules.At = in.at
	}
	return handlers, closeAll, nil
}

// checkRules checks the flags of an input from files.
func (in *input) checkRules() error {
	if in.config != "" || in.adapter != "" || in.name != "" {
		return errors.New("--rules replaces --config, --adapter and --name; " +
			"write one or the other")
	}
	if i := slices.Index(in.rules, source.StandardInput); i >= 0 &&
		slices.Contains(in.rules[i+1:], source.StandardInput) {
		return errStdinTwice
	}
	for _, path := range in.rules {
		if isCaddyfileName(path) && in.reading.format == "" {
			return fmt.Errorf("%s is a configuration of Caddy, not a file of rules; "+
				"write --config %s", path, path)
		}
	}
	return nil
}

// rulesOfFiles returns a ruleset of the files, without options.
func (in *input) rulesOfFiles(stdin io.Reader, how rulefile.Reading) *live.Ruleset {
	config := live.Config{Context: caddy.Context{Context: context.Background()}, At: in.at}
	for _, path := range in.rules {
		config.Sources = append(config.Sources, &source.Once{
			Path: path, Format: rulefile.Format(in.reading.format), Stdin: stdin, Reading: how,
		})
	}
	return live.New(config)
}

// loadConfig returns the configuration as JSON, and the path of its file.
func (in *input) loadConfig() (config []byte, path string, err error) {
	if in.config != "" && in.config != source.StandardInput {
		if _, err := os.Stat(in.config); err != nil {
			return nil, "", err
		}
	}
	config, path, _, err = caddycmd.LoadConfig(in.config, printable.Text(in.adapter))
	if err != nil {
		return nil, "", BadConfiguration{Err: err}
	}
	if path == "" {
		return nil, "", errors.New("there are no rules: write --config with a configuration or --rules " +
			"with a file of rules; this directory has no Caddyfile")
	}
	return config, path, nil
}

// BadConfiguration lists the errors of a configuration that could be read.
type BadConfiguration struct{ Err error }

// Error returns all errors.
func (b BadConfiguration) Error() string { return b.Err.Error() }

// Unwrap returns the error itself.
func (b BadConfiguration) Unwrap() error { return b.Err }

// beQuiet keeps Caddy from logging while it loads a configuration.
func beQuiet() error {
	_, end, err := quietContext(nil)
	if err == nil {
		end()
	}
	return err
}

// quietContext returns a context for modules that need a storage. Its configuration serves and logs
// nothing; closeAll ends it.
func quietContext(config []byte) (ctx caddy.Context, closeAll func(), err error) {
	var whole struct {
		Storage json.RawMessage `json:"storage"`
	}
	if config != nil {
		if err := json.Unmarshal(config, &whole); err != nil {
			return caddy.Context{}, nil, err
		}
	}
	ctx, err = caddy.ProvisionContext(&caddy.Config{
		Admin:      &caddy.AdminConfig{Disabled: true},
		StorageRaw: whole.Storage,
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{
			"default": {BaseLog: caddy.BaseLog{Level: "FATAL"}},
		}},
	})
	if err != nil {
		return caddy.Context{}, nil, err
	}
	ctx, closeAll = caddy.NewContext(ctx)
	return ctx, closeAll, nil
}

// errStdinTwice is the error of a command that would have to read standard input twice.
var errStdinTwice = errors.New("standard input can be read only once; " +
	"write a file for the other one")

// readsStdin reports whether rules are read from standard input.
func (in *input) readsStdin() bool {
	return slices.Contains(in.rules, source.StandardInput) || in.config == source.StandardInput
}
