package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-shortlink/shortlink/internal/near"
	"github.com/caddy-shortlink/shortlink/internal/printable"
)

// Register registers the command shortlink with Caddy.
func Register(configurations Configurations) {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "shortlink",
		Usage: "<command>",
		Short: "Resolves, checks, compares and edits short links",
		Long: `Resolves, checks and compares rules without a running Caddy, and edits the rules
of a running one. All commands use the resolver that serves.

Exit status: 0 if all is well, 1 if something was found or an outcome is an
error, 2 for wrong usage and for input that cannot be read.`,
		CobraFunc: func(parent *cobra.Command) { AddTo(parent, configurations) },
	})
}

// AddTo adds the commands below "caddy shortlink".
func AddTo(parent *cobra.Command, configurations Configurations) {
	complete(parent)
	parent.RunE = exiting(func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return parent.Help()
		}
		names := namesOfCommands(parent)
		return fmt.Errorf("there is no command %q%s; the commands are %s", args[0],
			theNearest("", args[0], names), strings.Join(names, ", "))
	})
	for _, cmd := range []*cobra.Command{
		resolveCommand(configurations),
		reverseCommand(configurations),
		checkCommand(configurations),
		coverageCommand(configurations),
		diffCommand(configurations),
		convertCommand(),
		addCommand(configurations),
		removeCommand(configurations),
		listCommand(configurations),
		hitsCommand(),
		reloadCommand(),
		statusCommand(),
	} {
		complete(cmd)
		parent.AddCommand(cmd)
	}
}

func namesOfCommands(parent *cobra.Command) []string {
	var names []string
	for _, sub := range parent.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// theNearest returns a clause that names the nearest of names, with prefix in front of it, or ""
// if none is near.
func theNearest(prefix, written string, names []string) string {
	if meant := near.Word(written, names); meant != "" {
		return "; the nearest is " + prefix + meant
	}
	return ""
}

// complete sets what all commands share: exit status 2 for wrong flags.
func complete(cmd *cobra.Command) {
	cmd.SilenceErrors = true
	cmd.Args = cobra.ArbitraryArgs // the command checks them
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		message := printable.Text(flagError(cmd, err).Error())
		return exit(cmd, fmt.Errorf("%s; see %s --help", message, cmd.CommandPath()))
	})
}

// flagError returns the error of wrong flags. It names the values that a flag takes, or the flag
// nearest to an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		return fmt.Errorf("%w%s", err, theNearest("--", unknown.GetSpecifiedName(), names))
	}
	invalid, is := errors.AsType[*pflag.InvalidValueError](err)
	if !is {
		return err
	}
	what := ""
	switch flag := invalid.GetFlag(); flag.Value.Type() {
	case "bool":
		what = "true or false"
	case "uint64":
		what = "a number from 0"
	case "int":
		what = "a number"
	case "time":
		what = "a date, such as 2026-03-01, or a time with a zone, such as 2026-03-01T06:00:00Z"
	default:
		return err
	}
	return fmt.Errorf("--%s takes %s, not %q", invalid.GetFlag().Name, what, invalid.GetValue())
}

// negative is the error of a command that worked and has a negative result, with or without a
// message: exit status 1. All other errors are exit status 2.
type negative struct{ error }

// errNegative is a negative result that the output already tells.
var errNegative = negative{}

// exiting makes a command from a function whose error decides the exit status. It escapes all that
// the function prints.
func exiting(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cmd.SilenceErrors = true
		out := printable.NewWriter(cmd.OutOrStdout())
		cmd.SetOut(out)
		cmd.SetErr(printable.NewWriter(cmd.ErrOrStderr()))
		return exit(cmd, errors.Join(run(cmd, args), out.Close()))
	}
}

// exit prints an error, and returns the error that makes Caddy exit with its status.
func exit(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	something, is := errors.AsType[negative](err)
	if !is || something.error != nil {
		text := printableWords(cmd, err.Error())
		fmt.Fprintln(printable.NewWriter(cmd.ErrOrStderr()), "Error:", text)
	}
	if is {
		return errors.New("exit status 1")
	}
	const wrongUsage = 2
	status := func(caddycmd.Flags) (int, error) { return wrongUsage, nil }
	return caddycmd.WrapCommandFuncForCobra(status)(cmd, nil)
}

// printableWords returns a text of many lines in which the words of a command, such as file names,
// stay on one line.
func printableWords(cmd *cobra.Command, text string) string {
	words := cmd.Flags().Args()
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if list, is := flag.Value.(pflag.SliceValue); is {
			words = append(words, list.GetSlice()...)
		} else {
			words = append(words, flag.Value.String())
		}
	})
	for _, word := range words {
		if word != "" {
			text = strings.ReplaceAll(text, word, printable.Text(word))
		}
	}
	return text
}

// Error returns the message.
func (f negative) Error() string {
	if f.error == nil {
		return ""
	}
	return f.error.Error()
}

const (
	formatText = "text"
	formatJSON = "json"
	formatCSV  = "csv"
)

// formatFlag adds the flag that chooses the output format.
func formatFlag(cmd *cobra.Command, format *string, others ...string) {
	formats := append([]string{formatText}, others...)
	cmd.Flags().StringVar(format, "format", formatText, "Form of the output: "+alternatives(formats))
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// checkFormat checks the flag --format of a command with formats other than text.
func checkFormat(format string, others ...string) error {
	formats := append([]string{formatText}, others...)
	if !slices.Contains(formats, format) {
		return fmt.Errorf("--format takes %s, not %q", alternatives(formats), format)
	}
	return nil
}

// alternatives lists words: "text, json or csv".
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
