package source

import (
	"cmp"
	"context"
	"io"
	"os"

	"github.com/caddy-shortlink/shortlink/internal/printable"
	"github.com/caddy-shortlink/shortlink/resolver"
	"github.com/caddy-shortlink/shortlink/resolver/lint"
	"github.com/caddy-shortlink/shortlink/rulefile"
)

// StandardInput is the path of standard input.
const StandardInput = "-"

// Once is a source that reads rules from a file once, as commands do; the file can be a pipe.
type Once struct {
	Path   string          // StandardInput for stdin
	Format rulefile.Format // if the path does not tell it; empty for JSON
	// Reading says how the rules are read.
	Reading rulefile.Reading
	Stdin   io.Reader

	warnings []lint.Warning // of the reading
	counted  *reading       // nil before it is read
}

// String returns the path, on one line.
func (f *Once) String() string { return printable.Text(f.Path) }

// Read reads the rules.
func (f *Once) Read(
	ctx context.Context, add func(resolver.Rule),
) (version string, err error) {
	r, err := f.open()
	if err != nil {
		return "", plainly(err)
	}
	defer r.Close()
	format, told := rulefile.FormatOf(f.Path)
	if !told {
		format = cmp.Or(f.Format, rulefile.JSON)
	}
	f.counted = newReading(ctx, r, nil)
	f.warnings, err = readAs(f.counted, format, f.Reading, f.String(), "--rules-format", add)
	if f.counted.n == 0 && err == nil {
		return "", errEmpty(format)
	}
	return "", err
}

func (f *Once) open() (io.ReadCloser, error) {
	if f.Path == StandardInput {
		return io.NopCloser(f.Stdin), nil
	}
	return os.Open(f.Path)
}

// Size returns the file's size, 0 for a pipe; see [Measured].
func (f *Once) Size(context.Context) int64 {
	if f.Path == StandardInput {
		return 0
	}
	info, err := os.Stat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Done returns how much of the file has been read; see [Measured].
func (f *Once) Done() int64 {
	if f.counted == nil {
		return 0
	}
	return f.counted.n
}

// Watch does nothing: a command reads its rules once.
func (*Once) Watch(context.Context, string, func()) {}

// Remarks returns the warnings of the reading.
func (f *Once) Remarks() Remarks { return Remarks{Warnings: f.warnings} }

// Locate is not needed: a command keeps lines.
func (*Once) Locate(context.Context, string, func(resolver.Rule)) bool { return false }

// Interface guards
var (
	_ Source    = (*Once)(nil)
	_ Annotated = (*Once)(nil)
	_ Measured  = (*Once)(nil)
)
