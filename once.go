package shortlink

import (
	"cmp"
	"context"
	"io"
	"os"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// standardInput is the path of standard input.
const standardInput = "-"

// ruleFile is a source that reads rules from a file as commands do: pipes, too, once.
type ruleFile struct {
	path   string          // standardInput for stdin
	format rulefile.Format // where the path does not tell it; empty for JSON
	stdin  io.Reader
}

// String returns the path, on one line.
func (f ruleFile) String() string { return printable.Text(f.path) }

// Read reads the rules.
func (f ruleFile) Read(
	ctx context.Context, add func(resolver.Rule),
) (version string, err error) {
	r, err := f.open()
	if err != nil {
		return "", plainly(err)
	}
	defer r.Close()
	format, told := rulefile.FormatOf(f.path)
	if !told {
		format = cmp.Or(f.format, rulefile.JSON)
	}
	counted := &reading{ctx: ctx, r: r}
	err = readAs(counted, format, f.String(), "--rules-format", add)
	if counted.n == 0 && err == nil {
		return "", errEmpty
	}
	return "", err
}

func (f ruleFile) open() (io.ReadCloser, error) {
	if f.path == standardInput {
		return io.NopCloser(f.stdin), nil
	}
	return os.Open(f.path)
}

// Watch does nothing: a command reads its rules once.
func (ruleFile) Watch(context.Context, string, func()) {}

var _ Source = ruleFile{}
