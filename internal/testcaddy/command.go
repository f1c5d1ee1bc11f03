package testcaddy

import (
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/spf13/cobra"
)

// Run runs a command line, and returns its output and exit status.
func Run(args []string, stdin string) (output string, status int) {
	var out strings.Builder
	root := &cobra.Command{Use: "caddy", SilenceUsage: true}
	parent := &cobra.Command{Use: "shortlink"}
	root.AddCommand(parent)
	caddycmd.Commands()["shortlink"].CobraFunc(parent)
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(stdin))
	root.SetArgs(args)
	switch err := root.Execute(); {
	case err == nil:
		return out.String(), 0
	case err.Error() == "exit status 1":
		return out.String(), 1
	}
	return out.String(), 2
}

// Command runs a command against a server, and returns its output and exit status.
func (s *Server) Command(args ...string) (string, int) {
	return Run(append(append([]string{"shortlink"}, args...), "--address", s.Admin), "")
}

// Says checks the output and the exit status of a command.
func (s *Server) Says(t *testing.T, want string, status int, args ...string) {
	t.Helper()
	if got, exit := s.Command(args...); got != want || exit != status {
		t.Errorf("%q says %q, %d; want %q, %d", args, got, exit, want, status)
	}
}
